// reprise: runs launches in another order where that takes fewer bytes.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "Grouping.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Target/LaunchFacts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_ORDERLAUNCHESPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// The launches of one block as a graph.
class LaunchGraph {
public:
  static FailureOr<LaunchGraph> build(func::FuncOp entry, LaunchFacts &facts);

  size_t size() const { return nodes.size(); }
  /// The bytes that live at once in program order.
  int64_t measureInOrder() const;
  /// An order that takes at most `most` bytes: the first launch of the program that can run and
  /// fits runs next. Empty if none fits some time.
  SmallVector<LaunchOp> order(int64_t most) const;

private:
  struct Node {
    LaunchOp launch;
    SmallVector<size_t> reads, makes; // buffers
    SmallVector<size_t> next;         // launches that wait for it
    size_t numWaitsFor = 0;
    int64_t scratch = 0; // bytes
    /// Results, by number among `makes`, with buffers in whose place they can lie.
    SmallVector<std::pair<size_t, size_t>> inPlace;
  };
  struct Buffer {
    int64_t bytes = 0;
    size_t numReaders = 0; // the return is one, too
  };
  /// What lies in memory between two launches.
  struct State {
    std::vector<size_t> readersLeft; // per buffer
    int64_t live = 0;
  };

  LogicalResult addLaunch(LaunchOp launch, LaunchFacts &facts);
  void addEdge(size_t from, size_t to) {
    if (llvm::is_contained(nodes[from].next, to))
      return;
    nodes[from].next.push_back(to);
    ++nodes[to].numWaitsFor;
  }
  void findNextValues(func::FuncOp entry);
  State start() const;
  int64_t findGrowth(const Node &node, const State &state) const;
  void run(const Node &node, State &state) const;

  std::vector<Node> nodes;
  std::vector<Buffer> buffers;
  llvm::MapVector<Value, size_t> bufferOf;
  DenseMap<Operation *, size_t> numberOf;
};

FailureOr<LaunchGraph> LaunchGraph::build(func::FuncOp entry, LaunchFacts &facts) {
  LaunchGraph graph;
  for (LaunchOp launch : entry.getBody().front().getOps<LaunchOp>())
    if (failed(graph.addLaunch(launch, facts)))
      return failure();
  graph.findNextValues(entry);
  return graph;
}

LogicalResult LaunchGraph::addLaunch(LaunchOp launch, LaunchFacts &facts) {
  static constexpr int64_t alignment = 64;
  FailureOr<Scratch> scratch = facts.findScratch(launch);
  if (failed(scratch))
    return failure();
  size_t number = nodes.size();
  numberOf[launch] = number;
  nodes.emplace_back().launch = launch;
  nodes[number].scratch = static_cast<int64_t>(llvm::alignTo(scratch->shared, alignment));
  for (Value input : launch.getInputs())
    if (auto buffer = bufferOf.find(input);
        buffer != bufferOf.end() && !llvm::is_contained(nodes[number].reads, buffer->second)) {
      nodes[number].reads.push_back(buffer->second);
      ++buffers[buffer->second].numReaders;
      addEdge(numberOf.lookup(input.getDefiningOp()), number);
    }
  for (Value result : launch.getResults()) {
    bufferOf[result] = buffers.size();
    nodes[number].makes.push_back(buffers.size());
    buffers.push_back(
        {static_cast<int64_t>(llvm::alignTo(getByteSize(result.getType()), alignment))});
  }
  for (auto [result, input] : facts.findInPlacePairs(launch)) {
    Value operand = launch.getInputs()[input];
    if (auto buffer = bufferOf.find(operand);
        buffer != bufferOf.end() && llvm::count(launch.getInputs(), operand) == 1)
      nodes[number].inPlace.push_back({result, buffer->second});
  }
  return success();
}

/// An argument's next value, which lies in its place, waits for the readers of the old one.
void LaunchGraph::findNextValues(func::FuncOp entry) {
  Operation *end = entry.getBody().front().getTerminator();
  EntrySignature signature(entry);
  ArrayRef<int64_t> replaced = signature.getReplacedArguments();
  for (OpOperand &use : end->getOpOperands()) {
    auto made = bufferOf.find(use.get());
    if (made == bufferOf.end())
      continue;
    ++buffers[made->second].numReaders;
    int64_t argument = replaced[use.getOperandNumber()];
    if (argument < 0)
      continue;
    size_t writer = numberOf.lookup(use.get().getDefiningOp());
    bool isReadLater = false;
    for (Operation *user : entry.getArgument(argument).getUsers()) {
      auto reader = numberOf.find(user);
      isReadLater |= reader == numberOf.end() || reader->second > writer;
      if (reader != numberOf.end() && reader->second < writer)
        addEdge(reader->second, writer);
    }
    if (!isReadLater)
      buffers[made->second].bytes = 0;
  }
}

LaunchGraph::State LaunchGraph::start() const {
  State state;
  for (const Buffer &buffer : buffers)
    state.readersLeft.push_back(buffer.numReaders);
  return state;
}

/// The bytes that a launch needs beside those that live before it.
int64_t LaunchGraph::findGrowth(const Node &node, const State &state) const {
  int64_t growth = node.scratch;
  SmallVector<size_t, 4> taken;
  for (auto [number, made] : llvm::enumerate(node.makes)) {
    auto shared = llvm::find_if(node.inPlace, [&, number = number](const auto &pair) {
      return pair.first == number && state.readersLeft[pair.second] == 1 &&
             !llvm::is_contained(taken, pair.second);
    });
    if (shared == node.inPlace.end())
      growth += buffers[made].bytes;
    else
      taken.push_back(shared->second);
  }
  return growth;
}

void LaunchGraph::run(const Node &node, State &state) const {
  for (size_t made : node.makes)
    if (buffers[made].numReaders > 0)
      state.live += buffers[made].bytes;
  for (size_t read : node.reads)
    if (--state.readersLeft[read] == 0)
      state.live -= buffers[read].bytes;
}

int64_t LaunchGraph::measureInOrder() const {
  State state = start();
  int64_t peak = 0;
  for (const Node &node : nodes) {
    peak = std::max(peak, state.live + findGrowth(node, state));
    run(node, state);
  }
  return peak;
}

SmallVector<LaunchOp> LaunchGraph::order(int64_t most) const {
  State state = start();
  SmallVector<LaunchOp> order;
  std::vector<size_t> waitsFor;
  std::set<size_t> ready;
  for (auto [number, node] : llvm::enumerate(nodes)) {
    waitsFor.push_back(node.numWaitsFor);
    if (node.numWaitsFor == 0)
      ready.insert(number);
  }
  while (!ready.empty()) {
    auto found = llvm::find_if(ready, [&](size_t number) {
      return state.live + findGrowth(nodes[number], state) <= most;
    });
    if (found == ready.end())
      return {};
    const Node &node = nodes[*found];
    ready.erase(found);
    run(node, state);
    order.push_back(node.launch);
    for (size_t next : node.next)
      if (--waitsFor[next] == 0)
        ready.insert(next);
  }
  return order;
}

struct OrderLaunchesPass : impl::OrderLaunchesPassBase<OrderLaunchesPass> {
  OrderLaunchesPass(OrderLaunchesPassOptions options = {}, std::shared_ptr<LaunchFacts> facts = {})
      : Base(std::move(options)), facts(std::move(facts)) {}

  LogicalResult initialize(MLIRContext *context) override {
    return LaunchFacts::load(targetName, UnknownLoc::get(context), facts);
  }

  void runOnOperation() override {
    for (auto entry : getOperation().getOps<func::FuncOp>())
      if (within > 0 && failed(order(entry)))
        return signalPassFailure();
  }

  /// Tries the same shares of the peak whatever the bytes, so that what fits in fewer is found with
  /// more, too.
  LogicalResult order(func::FuncOp entry) {
    static constexpr size_t mostLaunches = 8192;
    static constexpr int64_t parts = 256, least = parts / 2;
    Block &block = entry.getBody().front();
    if (!block.getOps<LoopOp>().empty())
      return success();
    FailureOr<LaunchGraph> graph = LaunchGraph::build(entry, *facts);
    if (failed(graph))
      return failure();
    int64_t peak = graph->measureInOrder();
    if (peak <= within || graph->size() > mostLaunches)
      return success();
    for (int64_t part = parts - 1; part >= least; --part) {
      int64_t bytes = static_cast<int64_t>(static_cast<double>(peak) * part / parts);
      if (bytes > within)
        continue;
      SmallVector<LaunchOp> launches = graph->order(bytes);
      if (launches.empty())
        continue;
      for (LaunchOp launch : launches)
        launch->moveBefore(block.getTerminator());
      entry->setAttr("exec.launches_moved", UnitAttr::get(entry.getContext()));
      break;
    }
    return success();
  }

  std::shared_ptr<LaunchFacts> facts;
};

} // namespace

std::unique_ptr<Pass> createOrderLaunchesPass(OrderLaunchesPassOptions options,
                                              std::shared_ptr<LaunchFacts> facts) {
  return std::make_unique<OrderLaunchesPass>(std::move(options), std::move(facts));
}

} // namespace reprise::exec
