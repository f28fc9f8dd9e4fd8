// reprise: which results of a group may lie where an argument lies
#include "InPlace.h"

#include "reprise/Conversion/Elements.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Where an output is stored; no root if by an op that runs alone.
struct Store {
  size_t nest;
  const Root *root;
};

bool isSlot(const BufferSlot &slot, BufferSlot::Kind kind, unsigned index) {
  return slot.kind == kind && slot.index == index;
}

std::optional<Store> findStore(const Program &program, unsigned output) {
  auto isOutput = [&](const BufferSlot &slot) { return isSlot(slot, BufferSlot::Output, output); };
  for (auto [i, nest] : llvm::enumerate(program.nests)) {
    for (const Root &root : nest.graph.roots)
      if (root.slot && isOutput(*root.slot))
        return Store{i, &root};
    if (llvm::any_of(nest.aloneBuffers, isOutput))
      return Store{i, nullptr};
  }
  return std::nullopt;
}

/// How many of the buffers of a nest are the argument.
int64_t countReads(const Nest &nest, unsigned argument) {
  auto isArgument = [&](const BufferSlot &slot) {
    return isSlot(slot, BufferSlot::Input, argument);
  };
  return llvm::count_if(nest.graph.buffers, isArgument) +
         llvm::count_if(nest.aloneBuffers, isArgument);
}

/// True if each element is read in the step that stores the same element, or before.
bool readsOnlyBehind(const Graph &graph, const Schedule &schedule, const Root &root,
                     unsigned argument) {
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != Node::Load || !isSlot(graph.buffers[node.buffer], BufferSlot::Input, argument))
      continue;
    // Elements of another width lie elsewhere in the same bytes.
    if (node.index != graph.position() ||
        bytesOf(node.type) != bytesOf(graph.nodes[root.node].type))
      return false;
    // A lone element is read before the one step begins, but not by other threads.
    if (graph.shape.size() == 1 && schedule.itemThreads <= 1)
      continue;
    auto last = schedule.lastPass.find(number);
    if (node.level != Level::Column || last == schedule.lastPass.end() ||
        last->second > graph.nodes[root.node].stage)
      return false;
  }
  return true;
}

bool mayLieAt(const Graph &graph, const Schedule &schedule, const Root &root, unsigned argument) {
  return root.kind == Root::Full && readsOnlyBehind(graph, schedule, root, argument);
}

bool mayShare(const Program &program, const Store &store, unsigned argument,
              ScheduleFn makeSchedule) {
  for (size_t later = store.nest + 1; later < program.nests.size(); ++later)
    if (countReads(program.nests[later], argument))
      return false;
  const Nest &nest = program.nests[store.nest];
  int64_t reads = countReads(nest, argument);
  if (reads == 0)
    return true;
  if (nest.alone)
    return reads == 1 && overwritesFirstOperand(nest.alone) &&
           isSlot(nest.aloneBuffers[0], BufferSlot::Input, argument);
  return mayLieAt(nest.graph, makeSchedule(nest.graph), *store.root, argument);
}

} // namespace

bool readsAtPosition(const Graph &graph, unsigned argument) {
  return llvm::all_of(graph.nodes, [&](const Node &node) {
    return node.kind != Node::Load ||
           !isSlot(graph.buffers[node.buffer], BufferSlot::Input, argument) ||
           node.index == graph.position();
  });
}

bool mayBeOverwritten(const Graph &graph, const Schedule &schedule, unsigned argument) {
  if (graph.has(Node::Tile))
    return readsAtPosition(graph, argument);
  return llvm::any_of(graph.roots, [&](const Root &root) {
    return root.slot && mayLieAt(graph, schedule, root, argument);
  });
}

SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(Block &body, const NestRules &rules,
                                                            ScheduleFn makeSchedule) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  FailureOr<Program> program = planProgram(body, rules);
  if (failed(program))
    return pairs;
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
    std::optional<Store> store = findStore(*program, output);
    if (!store)
      continue;
    for (BlockArgument argument : body.getArguments())
      if (getByteSize(argument.getType()) == getByteSize(result.getType()) &&
          mayShare(*program, *store, argument.getArgNumber(), makeSchedule))
        pairs.push_back({output, argument.getArgNumber()});
  }
  return pairs;
}

} // namespace reprise::nests
