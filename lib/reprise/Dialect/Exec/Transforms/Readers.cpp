// reprise: operands and readers of ops, through the ops that launches copy
#include "Readers.h"

#include "Grouping.h"
#include "reprise/Dialect/Exec/IR/FreeOps.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace reprise::exec {

void collectProducers(Operation *op, SmallVectorImpl<Operation *> &producers) {
  auto addOperands = [](Operation *reader, SmallVectorImpl<Operation *> &stack) {
    SmallVector<Value> reads = collectReads(reader);
    for (Value operand : llvm::reverse(reads))
      if (Operation *producer = operand.getDefiningOp())
        stack.push_back(producer);
  };
  SmallVector<Operation *> stack;
  addOperands(op, stack);
  while (!stack.empty()) {
    Operation *producer = stack.pop_back_val();
    if (isFree(producer))
      addOperands(producer, stack);
    else
      producers.push_back(producer);
  }
}

void collectProducersIf(Operation *op, function_ref<bool(Operation *)> isTaken,
                        SmallVectorImpl<Operation *> &ops) {
  struct Frame {
    Operation *op;
    SmallVector<Operation *> producers; ///< producers to visit, the next one last
  };
  auto makeFrame = [](Operation *reader) {
    Frame frame{reader, {}};
    collectProducers(reader, frame.producers);
    std::reverse(frame.producers.begin(), frame.producers.end());
    return frame;
  };
  DenseSet<Operation *> seen;
  std::vector<Frame> stack{makeFrame(op)};
  while (!stack.empty()) {
    if (!stack.back().producers.empty()) {
      Operation *producer = stack.back().producers.pop_back_val();
      if (isTaken(producer) && seen.insert(producer).second)
        stack.push_back(makeFrame(producer));
      continue;
    }
    if (stack.size() > 1)
      ops.push_back(stack.back().op);
    stack.pop_back();
  }
}

SmallVector<Operation *> findReaders(Operation *op) {
  SmallVector<Operation *> readers;
  SmallVector<Value> values(op->getResults());
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isExposure(use))
        continue;
      if (isFree(user))
        values.append(user->result_begin(), user->result_end());
      else
        readers.push_back(user);
    }
  return readers;
}

bool findsStored(Operation *op, Operation *producer) {
  if (partOf(op) != 1)
    return false;
  int64_t other = getReplayNumber(producer);
  return isa<PauseOp>(producer) || partOf(producer) == 0 ||
         (other != 0 && other != getReplayNumber(op));
}

bool isNearReaders(Operation *op, bool countsSeveral) {
  auto isNear = [&](OpOperand &use) {
    Operation *reader = use.getOwner();
    return reader->getBlock() == op->getBlock() && !reader->hasTrait<OpTrait::IsTerminator>() &&
           !isa<LoopOp>(reader);
  };
  // Exposed replays do not count.
  auto uses =
      llvm::make_filter_range(op->getUses(), [](OpOperand &use) { return !isExposure(use); });
  auto isOfPart = [&](OpOperand &use) { return partOf(use.getOwner()) == partOf(op); };
  auto count = std::distance(uses.begin(), uses.end());
  return count > 0 && (count == 1 || (countsSeveral && llvm::all_of(uses, isOfPart))) &&
         llvm::all_of(uses, isNear);
}

SmallVector<Value> collectSliced(Operation *op) {
  SmallVector<Value> sliced;
  for (Value operand : op->getOperands())
    if (auto slice = operand.getDefiningOp<SliceOp>(); slice && isElementwise(op))
      sliced.push_back(slice.getOperand());
  return sliced;
}

unsigned countBits(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
}

bool isReducedWide(Operation *op, unsigned narrow) {
  auto isReduction = llvm::IsaPred<ReductionOpInterface, NormalizationOpInterface>;
  bool isReduced = false;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> stack = {op};
  while (!stack.empty()) {
    Operation *wide = stack.pop_back_val();
    if (countBits(wide) <= narrow || !seen.insert(wide).second)
      continue;
    SmallVector<Operation *> readers = findReaders(wide);
    // In another part, readers of a replayed value read the replay instead.
    llvm::erase_if(readers, [&](Operation *reader) { return partOf(reader) != partOf(op); });
    if (!llvm::all_of(readers, takesFromRegisters))
      continue;
    isReduced |= llvm::any_of(readers, isReduction);
    llvm::append_range(stack, llvm::make_filter_range(readers, isElementwise));
  }
  return isReduced;
}

} // namespace reprise::exec
