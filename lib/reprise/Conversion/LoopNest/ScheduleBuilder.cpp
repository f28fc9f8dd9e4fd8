// reprise: what the schedules of all targets have in common: vectors, passes, scratch
#include "ScheduleBuilder.h"
#include "reprise/Conversion/Elements.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Where a pass computes the elements of a root, or the operand of a reduction.
int passOf(const Graph &graph, const Root &root) { return graph.nodes[root.node].stage; }

bool isColumnRoot(const Root &root) { return root.kind == Root::Full || root.isParts(); }

} // namespace

//===-- Vectors ----------------------------------------------------------------------------===//

/// True if lanes do not differ, or if the condition can be decided for a whole stretch of columns.
bool ScheduleBuilder::isVectorizable(const Affine &affine) const {
  unsigned lane = graph.innermost();
  llvm::SmallBitVector varies = graph.variationOf(affine);
  if (lane >= varies.size() || !varies.test(lane))
    return true;
  return affine.terms.size() == 1 && affine.coefficient(lane) == 1 &&
         graph.shape.columns.size() == 1;
}

void ScheduleBuilder::chooseWidth(int64_t most) {
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
  schedule.width =
      reduces ? reductionLanes : std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), 4, most);
}

int64_t ScheduleBuilder::countColumnNodes() const {
  return llvm::count_if(graph.nodes, [](const Node &node) {
    return node.level >= Level::Column && node.kind != Node::Constant;
  });
}

void ScheduleBuilder::findStretches() {
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

void ScheduleBuilder::keep(int number, int pass) {
  if (!schedule.kept.try_emplace(number, Kept{pass}).second)
    return;
  (pass == beforePasses ? schedule.fetched : schedule.passes[pass].kept).push_back(number);
}

/// The root that stores the elements of a node, or -1.
static int findStored(const Graph &graph, int number) {
  for (auto [i, root] : llvm::enumerate(graph.roots))
    if (root.node == number && root.kind == Root::Full && root.slot)
      return i;
  return -1;
}

/// True if the node of an earlier pass is loaded in this one.
bool ScheduleBuilder::findKept(int number, int pass, int earlier) {
  const Node &node = graph.nodes[number];
  bool isLoad = node.kind == Node::Load, keeps = keepsElements(node);
  if (!schedule.kept.contains(number)) {
    int stored = isLoad || (keeps && schedule.itemThreads) ? -1 : findStored(graph, number);
    if (stored >= 0)
      schedule.kept[number] = {earlier, 0, stored};
    else if (keeps)
      keep(number, isLoad ? beforePasses : earlier);
    else
      return false;
  }
  schedule.kept[number].last = pass;
  return true;
}

/// Nodes that a row computes once. Those below a choice are computed where they are needed.
void ScheduleBuilder::visitRow(int number) {
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

void ScheduleBuilder::visitColumn(int number, int pass, bool conditional) {
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
    if (findKept(number, pass, first->second))
      return;
  } else if (!conditional) {
    firstPass[number] = pass;
    if (visitsLanes && node.kind == Node::Load && fetchesFirst(node)) {
      keep(number, beforePasses);
      schedule.kept[number].last = pass;
    }
  }
  schedule.lastPass[number] = pass;
  if (node.kind == Node::Load && !conditional && !schedule.kept.contains(number))
    schedule.passes[pass].loads.push_back(number);
  bool guards = node.kind == Node::Choice || node.kind == Node::Sequence;
  for (int input : graph.inputsOf(number))
    visitColumn(input, pass, conditional || (guards && llvm::is_contained(node.operands, input)));
}

void ScheduleBuilder::assign() {
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
    pass.staged = !operands.empty() && (!inLanes || stages(operands));
    visitsLanes = !pass.staged;
    for (int operand : operands) {
      visitColumn(operand, number, false);
      if (pass.staged)
        keep(operand, number);
    }
    visitsLanes = false;
    // Their room is free when the next pass begins.
    for (int operand : operands)
      if (pass.staged && schedule.kept[operand].last <= static_cast<int>(number))
        schedule.kept[operand].last = number + 1;
    for (int root : pass.roots)
      visitColumn(graph.roots[root].node, number, false);
    int64_t values = llvm::count_if(
        seenInPass, [&](int number) { return graph.nodes[number].level >= Level::Column; });
    bool usesAll = pass.staged && !schedule.itemThreads;
    pass.laneWidth = usesAll ? reductionLanes : chooseLaneWidth(pass, values);
  }
  for (const Root &root : graph.roots)
    if (root.kind == Root::Row)
      visitRow(root.node);
}

void ScheduleBuilder::placeScratch() {
  auto place = [&](Type type, int64_t count) {
    int64_t offset = schedule.workerBytes;
    schedule.workerBytes += llvm::alignTo(bytesOf(getComputeType(type)) * count, 64);
    return offset;
  };
  if (!schedule.itemThreads)
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

bool ScheduleBuilder::jumpsBetweenLanes() const {
  return llvm::any_of(graph.nodes, [&](const Node &node) {
    return node.kind == Node::Load && node.index.coefficient(graph.innermost()) > 1;
  });
}

bool ScheduleBuilder::has(Root::Kind kind) const {
  return llvm::any_of(graph.roots, [&](const Root &root) { return root.kind == kind; });
}

void ScheduleBuilder::countItems() {
  schedule.rowItems = llvm::divideCeil(graph.shape.rowCount(), schedule.rowsPerItem);
  schedule.columnItems = llvm::divideCeil(graph.shape.columnCount(), schedule.columnsPerItem);
  schedule.items = graph.shape.outerSize() * schedule.rowItems * schedule.columnItems;
}

} // namespace reprise::nests
