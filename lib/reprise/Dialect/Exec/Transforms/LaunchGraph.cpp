// reprise: the launches of one block as a graph, and the bytes of their orders
#include "LaunchGraph.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

FailureOr<LaunchGraph> LaunchGraph::build(ProgramOp entry, LaunchFacts &facts) {
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

/// Finds next values of arguments, which overwrite the old values and therefore wait for their
/// readers.
void LaunchGraph::findNextValues(ProgramOp entry) {
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

/// Returns the bytes that a launch needs in addition to the live bytes before it.
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

int64_t LaunchGraph::measure(const LaunchOrder &order, std::vector<int64_t> &profile) const {
  State state = start();
  int64_t peak = 0;
  profile.clear();
  for (size_t number : order) {
    profile.push_back(state.live + findGrowth(nodes[number], state));
    peak = std::max(peak, profile.back());
    run(nodes[number], state);
  }
  return peak;
}

LaunchOrder LaunchGraph::findFirstFitting(int64_t most) const {
  State state = start();
  LaunchOrder order;
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
    order.push_back(*found);
    ready.erase(found);
    run(node, state);
    for (size_t next : node.next)
      if (--waitsFor[next] == 0)
        ready.insert(next);
  }
  return order;
}
