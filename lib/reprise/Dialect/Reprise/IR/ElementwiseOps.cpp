// reprise: elementwise ops: broadcasting, exact folds, assembly.
#include "reprise/Dialect/Reprise/IR/Casts.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace reprise;

//===-- Broadcasting --------------------------------------------------------------------------===//

static FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> lhs,
                                                       ArrayRef<int64_t> rhs) {
  SmallVector<int64_t> shape(std::max(lhs.size(), rhs.size()));
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t l = i <= lhs.size() ? lhs[lhs.size() - i] : 1;
    int64_t r = i <= rhs.size() ? rhs[rhs.size() - i] : 1;
    if (l != r && l != 1 && r != 1)
      return failure();
    shape[shape.size() - i] = l == 1 ? r : l;
  }
  return shape;
}

LogicalResult reprise::inferBroadcastType(std::optional<Location> location, TypeRange operands,
                                          SmallVectorImpl<Type> &results) {
  auto lhs = dyn_cast<RankedTensorType>(operands[0]), rhs = dyn_cast<RankedTensorType>(operands[1]);
  if (!lhs || !rhs || !lhs.hasStaticShape() || !rhs.hasStaticShape())
    return emitOptionalError(location, "expected statically shaped tensors");
  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(location, "expected operands of one element type but got ",
                             lhs.getElementType(), " and ", rhs.getElementType());
  auto shape = broadcastShapes(lhs.getShape(), rhs.getShape());
  if (failed(shape))
    return emitOptionalError(location, "operand shapes do not broadcast: ", lhs, " and ", rhs);
  results.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (failed(inferBroadcastType(location, adaptor.getOperands().getTypes(), results)))
    return failure();
  results[0] = cast<RankedTensorType>(results[0]).clone(IntegerType::get(context, 1));
  return success();
}

LogicalResult BitcastOp::verify() {
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  if (from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return success();
  return emitOpError("expected types of one width, got ") << from << " and " << to;
}

LogicalResult ClampOp::verify() {
  if (!(getLow() <= getHigh()))
    return emitOpError("expected low <= high, got ") << getLow() << " and " << getHigh();
  return success();
}

//===-- Folds, exact for every IEEE input -----------------------------------------------------===//

/// Returns true if `attribute` is a splat equal, bit for bit, to `value` in its element type.
static bool isSplat(Attribute attribute, double value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (dense.getElementType().isInteger())
    return value == static_cast<double>(static_cast<int64_t>(value)) &&
           dense.getSplatValue<APInt>() == APInt(dense.getElementType().getIntOrFloatBitWidth(),
                                                 static_cast<int64_t>(value), true);
  if (!isa<FloatType>(dense.getElementType()))
    return false;
  APFloat splat = dense.getSplatValue<APFloat>();
  APFloat wanted(value);
  bool loses;
  wanted.convert(splat.getSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return splat.bitwiseIsEqual(wanted);
}

/// Returns `operand` if it already has the result's type and `op` may be folded.
static OpFoldResult sameType(Value operand, Operation *op) {
  return operand.getType() == op->getResult(0).getType() && !isReplay(op) ? OpFoldResult(operand)
                                                                          : OpFoldResult();
}

/// Folds two splat floats by `rounded` in their own type. 16-bit floats, which the op computes in
/// f32 and then rounds, give the same result, since f32 has more than twice their precision
/// (Figueroa, When is double rounding innocuous?). A NaN result is not folded, because its payload
/// depends on the target.
static OpFoldResult foldSplats(Operation *op, Attribute lhs, Attribute rhs,
                               function_ref<void(APFloat &, const APFloat &)> rounded) {
  auto left = dyn_cast_or_null<SplatElementsAttr>(lhs),
       right = dyn_cast_or_null<SplatElementsAttr>(rhs);
  if (!left || !right || isReplay(op) || !isa<FloatType>(left.getElementType()))
    return {};
  APFloat value = left.getSplatValue<APFloat>();
  rounded(value, right.getSplatValue<APFloat>());
  if (value.isNaN())
    return {};
  return SplatElementsAttr::get(cast<ShapedType>(op->getResult(0).getType()), value);
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<NegOp>();
  return inner && !getReplay() && !inner.getReplay() ? inner.getOperand() : Value();
}

OpFoldResult ReluOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<ReluOp>();
  return inner && !getReplay() && !inner.getReplay() ? inner.getResult() : Value();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + -0 is x for every float; x + 0 is not (x = -0). For integers 0 is the identity.
  bool integer = getType().getElementType().isInteger();
  if (isSplat(adaptor.getRhs(), integer ? 0.0 : -0.0))
    return sameType(getLhs(), *this);
  if (isSplat(adaptor.getLhs(), integer ? 0.0 : -0.0))
    return sameType(getRhs(), *this);
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(),
                    [](APFloat &x, const APFloat &y) { x.add(y, APFloat::rmNearestTiesToEven); });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0))
    return sameType(getLhs(), *this);
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), [](APFloat &x, const APFloat &y) {
    x.subtract(y, APFloat::rmNearestTiesToEven);
  });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return sameType(getLhs(), *this);
  if (isSplat(adaptor.getLhs(), 1.0))
    return sameType(getRhs(), *this);
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), [](APFloat &x, const APFloat &y) {
    x.multiply(y, APFloat::rmNearestTiesToEven);
  });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return sameType(getLhs(), *this);
  return foldSplats(*this, adaptor.getLhs(), adaptor.getRhs(), [](APFloat &x, const APFloat &y) {
    x.divide(y, APFloat::rmNearestTiesToEven);
  });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getReplay())
    return {};
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  auto condition = dyn_cast_or_null<DenseElementsAttr>(adaptor.getCondition());
  if (!condition || !condition.isSplat())
    return {};
  return condition.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
}

//===-- cast ----------------------------------------------------------------------------------===//

OpFoldResult CastOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<CastOp>();
  if (!getReplay() && inner && !inner.getReplay() && widens(inner) &&
      inner.getOperand().getType() == getType())
    return inner.getOperand();
  return sameType(getOperand(), *this);
}

/// Rewrites narrow(view(x)) to view(narrow(x)), so that the view moves fewer bytes and the kernel
/// of x may narrow. If a pass has marked only one of the two ops, both stay.
static LogicalResult narrowBeforeView(CastOp op, PatternRewriter &rewriter) {
  Operation *view = op.getOperand().getDefiningOp();
  if (!narrows(op) || op.getReplay() || !isa_and_present<TransposeOp, ReshapeOp>(view) ||
      !view->hasOneUse() ||
      view->getDiscardableAttrDictionary() != op->getDiscardableAttrDictionary() || isReplay(view))
    return failure();
  auto wide = cast<RankedTensorType>(view->getOperand(0).getType());
  auto narrow = CastOp::create(rewriter, op.getLoc(),
                               wide.clone(getElementTypeOrSelf(op.getType())), view->getOperand(0));
  narrow->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Operation *moved = rewriter.clone(*view);
  moved->setOperand(0, narrow);
  moved->getResult(0).setType(op.getType());
  rewriter.replaceOp(op, moved);
  return success();
}

void CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(narrowBeforeView);
}
