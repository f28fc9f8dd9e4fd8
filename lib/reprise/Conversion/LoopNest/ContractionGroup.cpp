// reprise: which elementwise ops share the launch of a contraction
#include "ContractionGroup.h"

#include "RowGroup.h"
#include "reprise/Dialect/Exec/IR/FreeOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Kinds.h"

using namespace mlir;

namespace reprise::nests {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// True if a kernel finishes blocks of the op's result while they are in the cache. The parts of a
/// strided image gradient lie between each other.
static bool finishesBlocks(Operation *op) {
  if (auto transpose = dyn_cast<ConvolutionTransposeOp>(op))
    return llvm::all_of(transpose.getStrides(), [](int64_t stride) { return stride == 1; });
  return isa<DotGeneralOp, ConvolutionOpInterface>(op);
}

/// The last dimensions of a leader's result that a block's columns run through.
static int64_t countColumnDims(Operation *leader) {
  if (auto dot = dyn_cast<DotGeneralOp>(leader))
    return dot.getRhsFree().size();
  int64_t rank = shapeOf(leader->getResult(0)).size();
  return rank - (isa<ConvolutionFilterOp>(leader) ? 1 : 2);
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

/// Returns the strides of a value seen through views, the first of which is read; none if no
/// strides describe them.
static std::optional<StridedView> findView(Value value, ArrayRef<ViewOpInterface> views) {
  std::optional<StridedView> view = StridedView::of(cast<ShapedType>(value.getType()));
  if (auto iota = value.getDefiningOp<IotaOp>()) {
    llvm::fill(view->strides, 0);
    view->strides[iota.getDim()] = 1;
  }
  for (ViewOpInterface op : llvm::reverse(views))
    if (view)
      view = op.composeView(*view);
  return view;
}

static bool hasOneColumnStride(const StridedView &view, int64_t columnDims) {
  std::optional<int64_t> next; // the stride that the dimension before must have
  for (int64_t d = view.sizes.size(); columnDims-- > 0;) {
    if (view.sizes[--d] == 1)
      continue;
    if (next && view.strides[d] != *next)
      return false;
    next = view.strides[d] * view.sizes[d];
  }
  return true;
}

/// True if one stride leads from column to column: blocks start at any column, and a kernel that
/// had to take its number apart would be slow. Kernels follow views one by one, so each of them
/// has to have one; a chain may be as long as the graph.
static bool hasOneColumnStride(Value value, int64_t columnDims) {
  static constexpr size_t kMostViews = 16;
  if (auto pad = value.getDefiningOp<PadOp>(); pad && exec::isFree(pad)) {
    int64_t columns = 1;
    for (int64_t size : pad.getType().getShape().take_back(columnDims))
      columns *= size;
    return columns <= countPaddedTail(pad) && hasOneColumnStride(pad.getOperand(), columnDims);
  }
  for (SmallVector<ViewOpInterface> views; views.size() <= kMostViews;) {
    std::optional<StridedView> view = findView(value, views);
    if (!view || !hasOneColumnStride(*view, columnDims))
      return false;
    auto op = value.getDefiningOp<ViewOpInterface>();
    if (!op)
      return true;
    views.push_back(op);
    value = op->getOperand(0);
    if (cast<RankedTensorType>(value.getType()).getNumElements() == 1)
      return true;
  }
  return false;
}

bool isContractionGroup(ArrayRef<Operation *> ops) {
  if (ops.size() > maxGroupSize)
    return false;
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

} // namespace reprise::nests
