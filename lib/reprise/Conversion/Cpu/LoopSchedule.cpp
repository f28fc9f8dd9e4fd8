// reprise: plans the passes of a loop nest and its work items
#include "LoopSchedule.h"

#include "reprise/Conversion/Cpu/KernelBuilder.h"

using namespace mlir;

namespace reprise::loops {
namespace {

/// Elements that cost less than this are computed again rather than kept.
constexpr int64_t cheap = 4;
/// Elements at a time where each comes from another line of memory: so many lines stay in the
/// cache.
constexpr int64_t jumpingLanes = 8;
/// With more values than this in an element's work, vectors of 32 do not stay in 16 registers.
constexpr int64_t manyValues = 12;

class Scheduler {
public:
  Scheduler(const Graph &graph, int64_t registers) : graph(graph), registers(registers) {}
  Schedule run();
  Schedule runForThreads();

private:
  bool isVectorizable(const Affine &affine) const;
  void chooseWidth();
  void findStretches();
  void assign();
  void visitColumn(int number, int pass, bool conditional);
  void visitRow(int number);
  void keep(int number, int pass);
  int64_t chooseLaneWidth(const Pass &pass) const;
  void placeScratch();
  /// Whether lanes load from places far apart.
  bool jumpsBetweenLanes() const;
  int64_t countColumnNodes() const;
  void chooseItems();
  void countItems();
  bool has(Root::Kind kind) const;
  void chooseThreads();

  const Graph &graph;
  int64_t registers;
  Schedule schedule;
  llvm::DenseMap<int, int> firstPass;
  llvm::DenseSet<int> seenInPass, seenRows;
};

/// Where a pass computes the elements of a root, or the operand of a reduction.
int passOf(const Graph &graph, const Root &root) { return graph.nodes[root.node].stage; }

bool isColumnRoot(const Root &root) { return root.kind == Root::Full || root.isParts(); }

//===-- Vectors ----------------------------------------------------------------------------===//

/// True if lanes do not differ, or if the condition can be decided for a whole stretch of columns.
bool Scheduler::isVectorizable(const Affine &affine) const {
  unsigned lane = graph.innermost();
  llvm::SmallBitVector varies = graph.variationOf(affine);
  if (lane >= varies.size() || !varies.test(lane))
    return true;
  return affine.terms.size() == 1 && affine.coefficient(lane) == 1 &&
         graph.shape.columns.size() == 1;
}

void Scheduler::chooseWidth() {
  bool scalar = false;
  unsigned lane = graph.innermost();
  for (const Node &node : graph.nodes)
    if (node.condition)
      scalar |= !isVectorizable(node.condition->index) ||
                (node.condition->multiple > 1 && node.condition->index.coefficient(lane));
  for (const Symbol &symbol : graph.symbols)
    if (symbol.kind == Symbol::Quotient && symbol.divisor > 1)
      scalar |= graph.levelOf(symbol.numerator) >= Level::Column;
  if (scalar)
    return;
  int64_t columns = graph.shape.columns.back();
  if (graph.shape.columns.size() > 1) {
    // Lanes must not leave the innermost factor.
    constexpr int64_t fewest = 4;
    while (schedule.width < reductionLanes && columns % (2 * schedule.width) == 0)
      schedule.width *= 2;
    if (schedule.width * 2 > std::min(columns, reductionLanes))
      return;
    schedule.inRuns = columns >= fewest;
    schedule.width =
        schedule.inRuns ? std::min<int64_t>(llvm::PowerOf2Ceil(columns), reductionLanes / 2) : 1;
    return;
  }
  bool reduces = graph.hasReductions() || llvm::any_of(graph.roots, [](const Root &root) {
                   return root.kind == Root::LaneParts;
                 });
  int64_t most = reductionLanes;
  if (jumpsBetweenLanes())
    most = jumpingLanes;
  else if (registers <= 16 && countColumnNodes() > manyValues)
    most = reductionLanes / 2;
  schedule.width =
      reduces ? reductionLanes : std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), 4, most);
}

int64_t Scheduler::countColumnNodes() const {
  return llvm::count_if(graph.nodes, [](const Node &node) {
    return node.level >= Level::Column && node.kind != Node::Constant;
  });
}

void Scheduler::findStretches() {
  int64_t columns = graph.shape.columnCount();
  schedule.stretches = {0, columns};
  if (schedule.width == 1)
    return;
  unsigned lane = graph.innermost();
  for (const Node &node : graph.nodes) {
    if (!node.condition || !node.condition->index.coefficient(lane))
      continue;
    for (int64_t bound : {node.condition->lower, node.condition->upper})
      if (int64_t column = bound - node.condition->index.offset; column > 0 && column < columns)
        schedule.stretches.push_back(column);
  }
  llvm::sort(schedule.stretches);
  schedule.stretches.erase(llvm::unique(schedule.stretches), schedule.stretches.end());
}

//===-- Passes -----------------------------------------------------------------------------===//

void Scheduler::keep(int number, int pass) {
  if (schedule.kept.try_emplace(number, Kept{pass}).second)
    schedule.passes[pass].kept.push_back(number);
}

/// Nodes that a row computes once. Those below a choice are computed where they are needed.
void Scheduler::visitRow(int number) {
  const Node &node = graph.nodes[number];
  if (!seenRows.insert(number).second || node.kind == Node::Constant)
    return;
  if (node.level == Level::Kernel) {
    schedule.kernelNodes.push_back(number);
    return;
  }
  if (node.kind == Node::Reduce)
    return;
  bool conditional = node.kind == Node::Choice || node.kind == Node::Sequence;
  for (int input : conditional ? graph.indicesOf(node.index) : graph.inputsOf(number))
    visitRow(input);
}

void Scheduler::visitColumn(int number, int pass, bool conditional) {
  const Node &node = graph.nodes[number];
  if (node.level < Level::Column) {
    if (conditional || node.kind == Node::Constant)
      return;
    visitRow(number);
    if (node.level == Level::Row && seenInPass.insert(number).second)
      schedule.passes[pass].rowNodes.push_back(number);
    return;
  }
  if (!seenInPass.insert(number).second)
    return;
  auto first = firstPass.find(number);
  if (first != firstPass.end() && first->second < pass) {
    if (schedule.kept.contains(number))
      return;
    for (auto [i, root] : llvm::enumerate(graph.roots))
      if (root.node == number && root.kind == Root::Full && root.slot && node.kind != Node::Load) {
        schedule.kept[number] = {first->second, 0, static_cast<int>(i)};
        return;
      }
    if (node.cost > cheap && node.kind != Node::Load && !schedule.itemThreads) {
      keep(number, first->second);
      return;
    }
  } else if (!conditional) {
    firstPass[number] = pass;
  }
  schedule.lastPass[number] = pass;
  bool guards = node.kind == Node::Choice || node.kind == Node::Sequence;
  for (int input : graph.inputsOf(number))
    visitColumn(input, pass, conditional || (guards && llvm::is_contained(node.operands, input)));
}

/// 32 lanes of f32 fill four of sixteen registers: with more than a few values that is too much.
int64_t Scheduler::chooseLaneWidth(const Pass &pass) const {
  constexpr int64_t few = 6;
  int64_t values = llvm::count_if(
      seenInPass, [&](int number) { return graph.nodes[number].level >= Level::Column; });
  bool many = values + static_cast<int64_t>(pass.reductions.size()) > few;
  return many && registers <= 16 ? reductionLanes / 2 : reductionLanes;
}

void Scheduler::assign() {
  int count = 1;
  for (const Root &root : graph.roots)
    if (isColumnRoot(root))
      count = std::max(count, passOf(graph, root) + 1);
  for (const Node &node : graph.nodes)
    if (node.kind == Node::Reduce)
      count = std::max(count, node.stage);
  schedule.passes.resize(count);
  for (auto [i, root] : llvm::enumerate(graph.roots))
    if (isColumnRoot(root))
      schedule.passes[passOf(graph, root)].roots.push_back(i);
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    if (node.kind == Node::Reduce)
      schedule.passes[node.stage - 1].reductions.push_back(i);
  // Threads reduce elements as they compute them.
  bool inLanes = schedule.itemThreads || (schedule.width == reductionLanes &&
                                          schedule.stretches.size() == 2 && !schedule.inRuns);
  for (auto [number, pass] : llvm::enumerate(schedule.passes)) {
    seenInPass.clear();
    SmallVector<int> operands;
    for (int reduction : pass.reductions)
      operands.push_back(graph.nodes[reduction].operands[0]);
    for (int root : pass.roots)
      if (graph.roots[root].kind == Root::LaneParts)
        operands.push_back(graph.roots[root].node);
    pass.staged = !operands.empty() && !inLanes;
    for (int operand : operands) {
      visitColumn(operand, number, false);
      if (pass.staged)
        keep(operand, number);
    }
    for (int root : pass.roots)
      visitColumn(graph.roots[root].node, number, false);
    pass.laneWidth = pass.staged ? reductionLanes : chooseLaneWidth(pass);
  }
  for (const Root &root : graph.roots)
    if (root.kind == Root::Row)
      visitRow(root.node);
}

void Scheduler::placeScratch() {
  auto place = [&](Type type, int64_t count) {
    int64_t offset = schedule.workerBytes;
    schedule.workerBytes += llvm::alignTo(KernelBuilder::bytesOf(getComputeType(type)) * count, 64);
    return offset;
  };
  for (Pass &pass : schedule.passes)
    for (int number : pass.kept)
      schedule.kept[number].offset = place(graph.nodes[number].type, schedule.columnsPerItem);
  int64_t blocks = llvm::divideCeil(schedule.columnsPerItem, laneBlock);
  for (Pass &pass : schedule.passes)
    for (int reduction : pass.reductions)
      if (blocks > 1)
        schedule.blockResults[reduction] = place(graph.nodes[reduction].type, blocks);
}

//===-- Work items -------------------------------------------------------------------------===//

bool Scheduler::jumpsBetweenLanes() const {
  return llvm::any_of(graph.nodes, [&](const Node &node) {
    return node.kind == Node::Load && node.index.coefficient(graph.innermost()) > 1;
  });
}

bool Scheduler::has(Root::Kind kind) const {
  return llvm::any_of(graph.roots, [&](const Root &root) { return root.kind == kind; });
}

void Scheduler::countItems() {
  schedule.rowItems = llvm::divideCeil(graph.shape.rowCount(), schedule.rowsPerItem);
  schedule.columnItems = llvm::divideCeil(graph.shape.columnCount(), schedule.columnsPerItem);
  schedule.items = graph.shape.outerSize() * schedule.rowItems * schedule.columnItems;
}

void Scheduler::chooseItems() {
  int64_t rows = graph.shape.rowCount(), columns = graph.shape.columnCount();
  // Tens of kilobytes each, and enough items for 16 threads if there is that much.
  int64_t elements = std::clamp<int64_t>(llvm::alignTo(graph.shape.size() / 64, laneBlock),
                                         laneBlock, 8 * laneBlock);
  bool wholeRows = graph.hasReductions() || has(Root::Row);
  schedule.columnsPerItem = columns;
  if (has(Root::RowParts)) {
    schedule.rowsPerItem = orderedBlock;
    if (!wholeRows)
      schedule.columnsPerItem =
          std::min<int64_t>(columns, llvm::alignTo(elements / orderedBlock, 128));
  } else if (wholeRows || (columns <= elements && !has(Root::LaneParts))) {
    schedule.rowsPerItem = std::clamp<int64_t>(elements / std::max<int64_t>(columns, 1), 1, rows);
  } else {
    schedule.columnsPerItem = std::min(columns, elements);
  }
  if (!wholeRows && !has(Root::RowParts) && !has(Root::LaneParts) && jumpsBetweenLanes()) {
    // Neighbours in memory are in neighbouring rows: few columns at a time keep their lines in the
    // cache.
    schedule.columnsPerItem = std::min<int64_t>(columns, jumpingLanes);
    schedule.rowsPerItem = std::clamp<int64_t>(elements / schedule.columnsPerItem, 1, rows);
  }
  countItems();
}

//===-- Threads of a GPU -------------------------------------------------------------------===//

/// Elements at a time: a load of 16 bytes is the widest that a thread has, and a block of four
/// words is what Philox draws.
constexpr int64_t threadWidth = 4;

void Scheduler::chooseThreads() {
  bool lanes = graph.hasReductions() || has(Root::LaneParts);
  schedule.itemThreads = lanes ? reductionLanes : 1;
  chooseWidth();
  findStretches();
  bool vectors = !lanes && schedule.width >= threadWidth && schedule.stretches.size() == 2 &&
                 graph.shape.columns.back() % threadWidth == 0 && !jumpsBetweenLanes();
  schedule.width = vectors ? threadWidth : 1;
  schedule.inRuns = false;
  schedule.stretches = {0, graph.shape.columnCount()};
  schedule.columnsPerItem = schedule.width;
  if (has(Root::LaneParts) && !graph.hasReductions() && !has(Root::Row))
    schedule.columnsPerItem = laneBlock;
  else if (lanes)
    schedule.columnsPerItem = graph.shape.columnCount();
  schedule.rowsPerItem = has(Root::RowParts) ? orderedBlock : 1;
  countItems();
}

Schedule Scheduler::runForThreads() {
  chooseThreads();
  assign();
  for (Pass &pass : schedule.passes)
    pass.laneWidth = 1;
  placeScratch();
  return std::move(schedule);
}

Schedule Scheduler::run() {
  chooseWidth();
  findStretches();
  assign();
  chooseItems();
  placeScratch();
  return std::move(schedule);
}

} // namespace

Schedule makeSchedule(const Graph &graph, int64_t registers) {
  return Scheduler(graph, registers).run();
}

Schedule makeThreadSchedule(const Graph &graph) { return Scheduler(graph, 0).runForThreads(); }

} // namespace reprise::loops
