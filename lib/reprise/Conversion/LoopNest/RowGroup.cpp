// reprise: groups of ops that one pass over a space computes
#include "RowGroup.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Kinds.h"

using namespace mlir;

namespace reprise::nests {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The shape over which a loop group iterates: that of the operand for ops that
/// reduce it.
static ArrayRef<int64_t> spaceOf(Operation *op) {
  if (isa<ReductionOpInterface, NormalizationOpInterface>(op))
    return shapeOf(op->getOperand(0));
  return shapeOf(op->getResult(0));
}

/// The dimensions of its space that an op reduces; none if it is no reduction.
static SmallVector<int64_t> reducedDims(Operation *op) {
  if (auto reduction = dyn_cast<ReductionOpInterface>(op))
    return reduction.getReducedDims();
  if (isa<NormalizationOpInterface>(op))
    return {static_cast<int64_t>(spaceOf(op).size()) - 1};
  return {};
}

/// True if `view` repeats a value of rows along the dimensions that a group
/// reduces.
static bool spreadsRows(Operation *view, ArrayRef<int64_t> reduced) {
  auto broadcast = dyn_cast<BroadcastOp>(view);
  if (!broadcast)
    return false;
  int64_t rank = shapeOf(broadcast.getResult()).size(), kept = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (llvm::is_contained(reduced, d))
      continue;
    if (kept == static_cast<int64_t>(broadcast.getDims().size()) ||
        broadcast.getDims()[kept] != d ||
        shapeOf(broadcast.getOperand())[kept] != shapeOf(broadcast.getResult())[d])
      return false;
    ++kept;
  }
  return kept == static_cast<int64_t>(broadcast.getDims().size());
}

bool readsInPlace(ArrayRef<Operation *> ops, ArrayRef<int64_t> reduced) {
  llvm::SmallPtrSet<Operation *, 16> members(ops.begin(), ops.end());
  auto isMember = [&](Value value) {
    return value.getDefiningOp() && members.contains(value.getDefiningOp());
  };
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      bool moved = false;
      while (operand.getDefiningOp() && isa<ViewOpInterface, PadOp>(operand.getDefiningOp())) {
        moved |= !spreadsRows(operand.getDefiningOp(), reduced);
        operand = operand.getDefiningOp()->getOperand(0);
      }
      if (moved && isMember(operand))
        return false;
    }
  return true;
}

/// True if an op reduces all dimensions but the last.
static bool reducesColumns(Operation *op) {
  SmallVector<int64_t> dims = reducedDims(op);
  return !dims.empty() && dims.size() + 1 == spaceOf(op).size() &&
         dims.back() + 1 == static_cast<int64_t>(dims.size());
}

bool isRowGroup(ArrayRef<Operation *> ops) {
  if (ops.size() > maxGroupSize)
    return false;
  ArrayRef<int64_t> space;
  for (Operation *op : ops)
    if (spaceOf(op).size() > space.size())
      space = spaceOf(op);
  SmallVector<int64_t> reduced;
  bool hasColumns = false;
  for (Operation *op : ops) {
    if (spaceOf(op) != space)
      continue;
    if (reducesColumns(op))
      hasColumns = true;
    else if (reduced.empty())
      reduced = reducedDims(op);
  }
  int64_t last = static_cast<int64_t>(space.size()) - 1;
  if (!reduced.empty() && (reduced.back() != last || (hasColumns && reduced.front() != last)))
    return false;
  SmallVector<int64_t> rows;
  for (auto [d, size] : llvm::enumerate(space))
    if (!llvm::is_contained(reduced, static_cast<int64_t>(d)))
      rows.push_back(size);
  for (Operation *op : ops) {
    bool reduces = reducesColumns(op) || (!reduced.empty() && reducedDims(op) == reduced);
    bool onSpace = spaceOf(op) == space && (isElementwise(op) || reduces);
    bool onRows = !reduced.empty() && spaceOf(op) == ArrayRef(rows) && isElementwise(op);
    if (!onSpace && !onRows)
      return false;
  }
  return readsInPlace(ops, reduced);
}

} // namespace reprise::nests
