// reprise: which results of a group may lie where an argument lies
#include "InPlace.h"

#include "reprise/Conversion/Elements.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise::nests {
namespace {

bool isSlot(const BufferSlot &slot, BufferSlot::Kind kind, unsigned index) {
  return slot.kind == kind && slot.index == index;
}

SmallVector<BufferSlot> buffersOf(Operation &op) {
  auto kernel = dyn_cast<KernelOp>(op);
  return kernel ? kernel.getBuffers() : cast<AloneOp>(op).getBuffers();
}

/// How many of the buffers of a kernel, or of an op that runs alone, are such a slot.
int64_t countSlots(Operation &op, BufferSlot::Kind kind, unsigned index) {
  return llvm::count_if(buffersOf(op),
                        [&](const BufferSlot &slot) { return isSlot(slot, kind, index); });
}

const BufferSlot &slotOf(const Nest &nest, Value buffer) {
  return nest.buffers[nest.kernel.numberOf(buffer)];
}

/// True for a read of the argument.
bool reads(const Nest &nest, Value element, unsigned argument) {
  auto read = element.getDefiningOp<ReadOp>();
  return read && isSlot(slotOf(nest, read.getBuffer()), BufferSlot::Input, argument);
}

/// True if each element is read in the step that stores the same element, or before.
bool readsOnlyBehind(const Nest &nest, const Schedule &schedule, StoreOp root, unsigned argument) {
  for (Value element : nest.elements) {
    if (!reads(nest, element, argument))
      continue;
    // Elements of another width lie elsewhere in the same bytes.
    if (element.getDefiningOp<ReadOp>().getPlace() != nest.position() ||
        bytesOf(typeOf(element)) != bytesOf(typeOf(root.getElement())))
      return false;
    // A lone element is read before the one step begins, but not by other threads.
    if (nest.shape.size() == 1 && schedule.itemThreads <= 1)
      continue;
    auto last = schedule.lastPass.find(element);
    if (nest.levelOf(element) != Level::Column || last == schedule.lastPass.end() ||
        last->second > nest.stageOf(root.getElement()))
      return false;
  }
  return true;
}

bool mayLieAt(const Nest &nest, const Schedule &schedule, StoreOp root, unsigned argument) {
  return root.getWhat() == Stored::Elements && readsOnlyBehind(nest, schedule, root, argument);
}

/// True if the output, which `op` stores first, may lie at the address of the argument.
bool mayShare(Operation &op, unsigned output, unsigned argument, ScheduleFn makeSchedule) {
  for (Operation *later = op.getNextNode(); later; later = later->getNextNode())
    if (countSlots(*later, BufferSlot::Input, argument))
      return false;
  int64_t count = countSlots(op, BufferSlot::Input, argument);
  if (count == 0)
    return true;
  if (auto alone = dyn_cast<AloneOp>(op))
    return count == 1 && cast<AloneOpInterface>(alone.getOp()).overwritesFirstOperand() &&
           isSlot(alone.getBuffers()[0], BufferSlot::Input, argument);
  Nest nest(cast<KernelOp>(op));
  auto isOutput = [&](StoreOp root) {
    return root.getBuffer() && isSlot(slotOf(nest, root.getBuffer()), BufferSlot::Output, output);
  };
  return mayLieAt(nest, makeSchedule(nest), *llvm::find_if(nest.roots, isOutput), argument);
}

} // namespace

bool readsAtPosition(const Nest &nest, unsigned argument) {
  return llvm::all_of(nest.elements, [&](Value element) {
    return !reads(nest, element, argument) ||
           element.getDefiningOp<ReadOp>().getPlace() == nest.position();
  });
}

bool mayBeOverwritten(const Nest &nest, const Schedule &schedule, unsigned argument) {
  if (nest.has<TileOp>())
    return readsAtPosition(nest, argument);
  return llvm::any_of(nest.roots, [&](StoreOp root) {
    return root.getBuffer() && mayLieAt(nest, schedule, root, argument);
  });
}

SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(Block &body, const NestRules &rules,
                                                            ScheduleFn makeSchedule) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  FailureOr<OwningOpRef<NestProgramOp>> program = planProgram(body, rules);
  if (failed(program))
    return pairs;
  Block &nests = (*program)->getBody().front();
  for (OpOperand &result : body.getTerminator()->getOpOperands()) {
    unsigned output = result.getOperandNumber();
    auto store = llvm::find_if(
        nests, [&](Operation &op) { return countSlots(op, BufferSlot::Output, output) != 0; });
    if (store == nests.end())
      continue;
    for (BlockArgument argument : body.getArguments())
      if (getByteSize(argument.getType()) == getByteSize(result.get().getType()) &&
          mayShare(*store, output, argument.getArgNumber(), makeSchedule))
        pairs.push_back({output, argument.getArgNumber()});
  }
  return pairs;
}

} // namespace reprise::nests
