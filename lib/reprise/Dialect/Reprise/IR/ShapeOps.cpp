// reprise: constants and data movement: types, views, folds.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "reprise/Support/Wording.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Replays and originals are not looked through: each stays an op of its own.
template <typename OpT> static OpT plainProducer(Value value) {
  auto op = value.getDefiningOp<OpT>();
  return op && !op.getReplay() ? op : OpT();
}

//===-- constant, iota ------------------------------------------------------------------------===//

// Replayed constants fold as well, as ConstantLike demands: a constant is never a value to save.
OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::verify() {
  if (isa<DenseElementsAttr>(getValue()))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!resource)
    return emitOpError("expected a dense value");
  // An i1 takes one byte, as everywhere in memory.
  auto type = cast<RankedTensorType>(getType());
  int64_t width = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob || static_cast<int64_t>(blob->getData().size()) != type.getNumElements() * width)
    return emitOpError("expected a resource of ")
           << groupDigits(type.getNumElements() * width) << " bytes";
  return success();
}

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= tensor(getResult()).getRank())
    return emitOpError("expected a dimension of the result, got ")
           << static_cast<int64_t>(getDim());
  return success();
}

//===-- broadcast -----------------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  auto from = tensor(getOperand()), to = tensor(getResult());
  if (from.getElementType() != to.getElementType() ||
      static_cast<int64_t>(getDims().size()) != from.getRank())
    return emitOpError("expected one result dimension per operand dimension and one element type");
  int64_t last = -1;
  for (auto [d, dim] : llvm::enumerate(getDims())) {
    if (dim <= last || dim >= to.getRank() || to.getDimSize(dim) != from.getDimSize(d))
      return emitOpError("expected ascending dimensions of equal size in the result, got ") << dim;
    last = dim;
  }
  return success();
}

std::optional<StridedView> BroadcastOp::composeView(const StridedView &source) {
  StridedView view{source.offset, llvm::to_vector(tensor(getResult()).getShape()), {}};
  view.strides.assign(view.sizes.size(), 0);
  for (auto [d, dim] : llvm::enumerate(getDims()))
    view.strides[dim] = source.strides[d];
  return view;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && !getReplay())
    return getOperand();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  return splat && !getReplay() ? OpFoldResult(splat.resizeSplat(getType())) : OpFoldResult();
}

//===-- reshape -------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  auto from = tensor(getOperand()), to = tensor(getResult());
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return emitOpError("expected the same elements on both sides, got ") << from << " and " << to;
  return success();
}

/// Returns strides for `sizes` over the elements of `source`; none if a new dimension spans a gap
/// of the old view.
static std::optional<SmallVector<int64_t>> reshapeStrides(const StridedView &source,
                                                          ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 0);
  size_t from = 0, to = 0;
  while (from < source.sizes.size() || to < sizes.size()) {
    size_t fromEnd = from, toEnd = to;
    int64_t fromCount = 1, toCount = 1;
    do {
      if (fromCount <= toCount && fromEnd < source.sizes.size())
        fromCount *= source.sizes[fromEnd++];
      else if (toEnd < sizes.size())
        toCount *= sizes[toEnd++];
      else
        fromCount *= source.sizes[fromEnd++];
    } while (fromCount != toCount);
    // The old dimensions of this factor must form one arithmetic progression; dimensions of size 1
    // are ignored.
    int64_t inner = 0, step = 0, count = 1;
    for (size_t d = fromEnd; d-- > from;) {
      if (source.sizes[d] == 1)
        continue;
      if (count == 1)
        step = inner = source.strides[d];
      else if (source.strides[d] != inner)
        return std::nullopt;
      count *= source.sizes[d];
      inner = source.strides[d] * source.sizes[d];
    }
    int64_t stride = step;
    for (size_t d = toEnd; d-- > to; stride *= sizes[d])
      strides[d] = stride;
    from = fromEnd;
    to = toEnd;
  }
  return strides;
}

std::optional<StridedView> ReshapeOp::composeView(const StridedView &source) {
  ArrayRef<int64_t> sizes = tensor(getResult()).getShape();
  if (llvm::is_contained(sizes, 0))
    return StridedView::of(tensor(getResult()));
  auto strides = reshapeStrides(source, sizes);
  if (!strides)
    return std::nullopt;
  return StridedView{source.offset, llvm::to_vector(sizes), *strides};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && !getReplay())
    return getOperand();
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand());
  return dense && !getReplay() ? OpFoldResult(dense.reshape(getType())) : OpFoldResult();
}

static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = plainProducer<ReshapeOp>(op.getOperand());
  if (!inner || op.getReplay())
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getOperandMutable().assign(inner.getOperand()); });
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeReshapes);
}

//===-- transpose -----------------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (!type || static_cast<int64_t>(permutation.size()) != type.getRank() ||
      !isPermutationVector(permutation))
    return emitOptionalError(location, "expected a permutation of the operand's dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
LogicalResult TransposeOp::verify() { return success(); }

std::optional<StridedView> TransposeOp::composeView(const StridedView &source) {
  StridedView view{source.offset, {}, {}};
  for (int64_t dim : getPermutation()) {
    view.sizes.push_back(source.sizes[dim]);
    view.strides.push_back(source.strides[dim]);
  }
  return view;
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()) && !getReplay())
    return getOperand();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  return splat && !getReplay() ? OpFoldResult(splat.resizeSplat(getType())) : OpFoldResult();
}

static LogicalResult mergeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = plainProducer<TransposeOp>(op.getOperand());
  if (!inner || op.getReplay())
    return failure();
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  rewriter.modifyOpInPlace(op, [&] {
    op.getOperandMutable().assign(inner.getOperand());
    op.setPermutation(permutation);
  });
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(mergeTransposes);
}

//===-- slice ---------------------------------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  size_t rank = type ? type.getRank() : 0;
  if (!type || adaptor.getStarts().size() != rank || adaptor.getLimits().size() != rank ||
      adaptor.getStrides().size() != rank)
    return emitOptionalError(location, "expected starts, limits and strides of the operand's rank");
  SmallVector<int64_t> shape;
  for (size_t d = 0; d < rank; ++d) {
    int64_t start = adaptor.getStarts()[d], limit = adaptor.getLimits()[d],
            stride = adaptor.getStrides()[d];
    if (start < 0 || start > limit || limit > type.getDimSize(d) || stride < 1)
      return emitOptionalError(location, "expected 0 <= start <= limit <= ", type.getDimSize(d),
                               " and a positive stride in dimension ", d);
    shape.push_back(limit > start ? (limit - start - 1) / stride + 1 : 0);
  }
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
LogicalResult SliceOp::verify() { return success(); }

std::optional<StridedView> SliceOp::composeView(const StridedView &source) {
  StridedView view{source.offset, llvm::to_vector(tensor(getResult()).getShape()), {}};
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    view.offset += getStarts()[d] * source.strides[d];
    view.strides.push_back(getStrides()[d] * source.strides[d]);
  }
  return view;
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType() && !getReplay())
    return getOperand();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  return splat && !getReplay() ? OpFoldResult(splat.resizeSplat(getType())) : OpFoldResult();
}

/// Rewrites slice(random) to a draw of the window from a moved origin: every element keeps its
/// word.
static LogicalResult moveOrigin(SliceOp op, PatternRewriter &rewriter) {
  auto random = op.getOperand().getDefiningOp<RandomOpInterface>();
  if (!random || random->getNumOperands() == 0 || op.getReplay() || !random->hasOneUse() ||
      !random.getSeedOperand())
    return failure();
  // We handle only pure draws: an op that also reads a tensor would need a slice of that tensor.
  if (llvm::any_of(random->getOperands(), [&](Value v) {
        return v != random.getSeedOperand() && v != random.getOffsetOperand() &&
               v != random.getOriginOperand();
      }))
    return failure();
  if (random.getOriginOperand() || llvm::any_of(op.getStrides(), [](int64_t s) { return s != 1; }))
    return failure();
  Value origin = ConstantOp::create(
      rewriter, op.getLoc(),
      DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(op.getStarts().size())},
                                                   rewriter.getI64Type()),
                             op.getStarts()));
  rewriter.setInsertionPoint(op);
  auto global = rewriter.getDenseI64ArrayAttr(random.getDrawnGlobalShape());
  Operation *window = rewriter.clone(*random);
  window->getResult(0).setType(op.getType());
  cast<RandomOpInterface>(window).setWindow(origin, global);
  rewriter.replaceOp(op, window->getResult(0));
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(moveOrigin);
}

//===-- pad, concatenate ----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  size_t rank = type ? type.getRank() : 0;
  if (!type || adaptor.getLow().size() != rank || adaptor.getHigh().size() != rank ||
      adaptor.getInterior().size() != rank)
    return emitOptionalError(location, "expected low, high and interior of the operand's rank");
  SmallVector<int64_t> shape;
  for (size_t d = 0; d < rank; ++d) {
    int64_t n = type.getDimSize(d), low = adaptor.getLow()[d], high = adaptor.getHigh()[d];
    int64_t interior = adaptor.getInterior()[d];
    if (low < 0 || high < 0 || interior < 0)
      return emitOptionalError(location, "expected no negative padding in dimension ", d);
    shape.push_back(low + n + std::max<int64_t>(n - 1, 0) * interior + high);
  }
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult PadOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return emitOpError("expected a padding value of type ") << getType().getElementType();
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() && !getReplay() ? getOperand() : Value();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getOperands().empty())
    return emitOptionalError(location, "expected at least one operand");
  auto first = dyn_cast<RankedTensorType>(adaptor.getOperands()[0].getType());
  int64_t dim = adaptor.getDim();
  if (!first || dim < 0 || dim >= first.getRank())
    return emitOptionalError(location, "expected a dimension of the operands, got ", dim);
  SmallVector<int64_t> shape = llvm::to_vector(first.getShape());
  shape[dim] = 0;
  for (Value operand : adaptor.getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> other = llvm::to_vector(type.getShape());
    if (type.getRank() == first.getRank())
      other[dim] = first.getDimSize(dim);
    if (type.getElementType() != first.getElementType() || ArrayRef(other) != first.getShape())
      return emitOptionalError(location, "expected operands that differ in dimension ", dim,
                               " only, got ", first, " and ", type);
    shape[dim] += type.getDimSize(dim);
  }
  results.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}
LogicalResult ConcatenateOp::verify() { return success(); }

OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  return getNumOperands() == 1 && !getReplay() ? getOperand(0) : Value();
}
