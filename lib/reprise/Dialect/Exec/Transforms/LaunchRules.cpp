// reprise: what one launch can hold.
#include "Grouping.h"

#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::exec {

/// A launch with more ops than this gains nothing but register pressure.
static constexpr size_t maxGroupSize = 40;

bool isElementwise(Operation *op) {
  if (isa<AttentionOpInterface, ContractionOpInterface, ConvolutionOpInterface>(op))
    return false;
  return isa<ElementwiseOpInterface, RandomOpInterface>(op);
}

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

/// True if ops of the group read values of the group in place, or rows spread
/// over the dimensions that it reduces: what a kernel that walks the space once
/// has in registers.
static bool readsInPlace(ArrayRef<Operation *> ops, ArrayRef<int64_t> reduced) {
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

/// Elementwise ops on one shape, reductions of some dimensions of it, the last
/// among them, and elementwise ops on the rows that those leave. Where nothing
/// but the last dimension is reduced so, sums over columns can go along.
static bool isRowGroup(ArrayRef<Operation *> ops) {
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

/// True if a kernel finishes blocks of the op's result while they are in the cache. The parts of a
/// strided image gradient lie between each other.
static bool finishesBlocks(Operation *op) {
  if (auto transpose = dyn_cast<ConvolutionTransposeOp>(op))
    return llvm::all_of(transpose.getStrides(), [](int64_t stride) { return stride == 1; });
  return isa<ContractionOpInterface, ConvolutionOpInterface>(op);
}

/// The last dimensions of a leader's result that a block's columns run through.
static int64_t countColumnDims(Operation *leader) {
  if (auto dot = dyn_cast<DotGeneralOp>(leader))
    return dot.getRhsFree().size();
  int64_t rank = shapeOf(leader->getResult(0)).size();
  return rank - (isa<ConvolutionFilterOp>(leader) ? 1 : 2);
}

/// Where the elements of a value lie, seen through its views; none if no strides tell.
static std::optional<StridedView> findView(Value value) {
  if (auto iota = value.getDefiningOp<IotaOp>()) {
    StridedView view = StridedView::of(iota.getType());
    llvm::fill(view.strides, 0);
    view.strides[iota.getDim()] = 1;
    return view;
  }
  auto view = value.getDefiningOp<ViewOpInterface>();
  if (!view)
    return StridedView::of(cast<ShapedType>(value.getType()));
  std::optional<StridedView> source = findView(view->getOperand(0));
  return source ? view.composeView(*source) : std::nullopt;
}

/// The elements of a pad behind which it leaves no gap: those of its last dimension with padding
/// and of all after it. A kernel that chooses between the operand and the padding tells by their
/// number on which side one is.
static int64_t countPaddedTail(PadOp pad) {
  int64_t count = 1;
  for (int64_t d = pad.getType().getRank(); d-- > 0;) {
    bool isPlain = pad.getType().getDimSize(d) == pad.getOperand().getType().getDimSize(d);
    if (!isPlain && pad.getInterior()[d] != 0 && count != 1)
      return count;
    count *= pad.getType().getDimSize(d);
    if (!isPlain)
      return count;
  }
  return count;
}

/// True if one stride leads from column to column: blocks start at any column, and a kernel that
/// had to take its number apart would be slow.
static bool hasOneColumnStride(Value value, int64_t columnDims) {
  if (auto pad = value.getDefiningOp<PadOp>(); pad && isFree(pad)) {
    int64_t columns = 1;
    for (int64_t size : pad.getType().getShape().take_back(columnDims))
      columns *= size;
    return columns <= countPaddedTail(pad) && hasOneColumnStride(pad.getOperand(), columnDims);
  }
  std::optional<StridedView> view = findView(value);
  if (!view)
    return false;
  std::optional<int64_t> next; // the stride that the dimension before must have
  for (int64_t d = view->sizes.size(); columnDims-- > 0;) {
    if (view->sizes[--d] == 1)
      continue;
    if (next && view->strides[d] != *next)
      return false;
    next = view->strides[d] * view->sizes[d];
  }
  return true;
}

/// One contraction or convolution, and elementwise ops on its result's shape after it.
static bool isContractionGroup(ArrayRef<Operation *> ops) {
  Operation *leader = ops.front();
  if (!finishesBlocks(leader))
    return false;
  ArrayRef<int64_t> shape = shapeOf(leader->getResult(0));
  int64_t columnDims = countColumnDims(leader);
  auto fits = [&](Operation *op) {
    return isElementwise(op) && shapeOf(op->getResult(0)) == shape &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return shapeOf(operand) != shape || hasOneColumnStride(operand, columnDims);
           });
  };
  return readsInPlace(ops, {}) && llvm::all_of(ops.drop_front(), fits);
}

static bool computesPositions(ArrayRef<Operation *> ops) {
  return llvm::any_of(ops, [&](Operation *op) {
    auto reader = dyn_cast<IndexingOpInterface>(op);
    return reader && llvm::is_contained(ops, reader.getPositions().getDefiningOp());
  });
}

bool canHold(ArrayRef<Operation *> ops, const Target &target) {
  if (ops.size() == 1)
    return true;
  if (llvm::any_of(ops, llvm::IsaPred<LoopOp>) || computesPositions(ops))
    return false;
  return ops.size() <= maxGroupSize &&
         ((target.hasContractionEpilogues() && isContractionGroup(ops)) || isRowGroup(ops));
}

} // namespace reprise::exec
