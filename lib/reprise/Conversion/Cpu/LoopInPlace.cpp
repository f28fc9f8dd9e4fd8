// reprise: which results of a group may lie where an argument lies
#include "LoopProgram.h"
#include "LoopSchedule.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/Loops.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {

using namespace loops;

namespace {

/// Where an output is stored.
struct Store {
  size_t nest;
  const Root *root;
};

bool isSlot(const BufferSlot &slot, BufferSlot::Kind kind, unsigned index) {
  return slot.kind == kind && slot.index == index;
}

std::optional<Store> findStore(const Program &program, unsigned output) {
  for (auto [i, nest] : llvm::enumerate(program.nests))
    for (const Root &root : nest.graph.roots)
      if (root.slot && isSlot(*root.slot, BufferSlot::Output, output))
        return Store{i, &root};
  return std::nullopt;
}

bool reads(const Nest &nest, unsigned argument) {
  auto isArgument = [&](const BufferSlot &slot) {
    return isSlot(slot, BufferSlot::Input, argument);
  };
  return llvm::any_of(nest.graph.buffers, isArgument) ||
         llvm::any_of(nest.scatterBuffers, isArgument);
}

/// True if each element is read in the step that stores the same element, or before.
bool readsOnlyBehind(const Graph &graph, const Schedule &schedule, const Root &root,
                     unsigned argument) {
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (node.kind != Node::Load || !isSlot(graph.buffers[node.buffer], BufferSlot::Input, argument))
      continue;
    if (node.index != graph.position())
      return false;
    // A lone element is read before the one step begins.
    if (graph.shape.size() == 1)
      continue;
    auto last = schedule.lastPass.find(number);
    if (node.level != Level::Column || last == schedule.lastPass.end() ||
        last->second > graph.nodes[root.node].stage)
      return false;
  }
  return true;
}

bool mayShare(const Program &program, const Store &store, unsigned argument) {
  for (size_t later = store.nest + 1; later < program.nests.size(); ++later)
    if (reads(program.nests[later], argument))
      return false;
  const Nest &nest = program.nests[store.nest];
  if (!reads(nest, argument))
    return true;
  if (nest.scatter || store.root->kind != Root::Full)
    return false;
  return readsOnlyBehind(nest.graph, makeSchedule(nest.graph, 16), *store.root, argument);
}

} // namespace

SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(Block &body) {
  if (isContractionLaunch(body))
    return findContractionInPlacePairs(body);
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  FailureOr<Program> program = planProgram(body);
  if (failed(program))
    return pairs;
  for (auto [output, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
    std::optional<Store> store = findStore(*program, output);
    if (!store)
      continue;
    for (BlockArgument argument : body.getArguments())
      if (getByteSize(argument.getType()) == getByteSize(result.getType()) &&
          mayShare(*program, *store, argument.getArgNumber()))
        pairs.push_back({output, argument.getArgNumber()});
  }
  return pairs;
}

} // namespace reprise
