// reprise: row ops: types and their definition as chains of simpler ops.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType withoutLast(RankedTensorType type, Type elementType) {
  return RankedTensorType::get(type.getShape().drop_back(), elementType);
}

static LogicalResult verifyHasRow(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (type.getRank() == 0 || type.getShape().back() == 0)
    return op->emitOpError("expected an operand with a non-empty last dimension but got ") << type;
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifyHasRow(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifyHasRow(*this); }

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto logits = dyn_cast<RankedTensorType>(adaptor.getLogits().getType());
  auto labels = dyn_cast<RankedTensorType>(adaptor.getLabels().getType());
  if (!logits || !labels || logits.getRank() == 0 || logits.getShape().back() == 0 ||
      logits.getShape().drop_back() != labels.getShape())
    return emitOptionalError(location,
                             "expected logits [samples…, classes] and labels [samples…] but got ",
                             adaptor.getLogits().getType(), " and ", adaptor.getLabels().getType());
  results.push_back(withoutLast(logits, logits.getElementType()));
  return success();
}

Value CrossEntropyOp::getPositions() { return getLabels(); }
int64_t CrossEntropyOp::getPositionLimit() { return getLogits().getType().getShape().back(); }

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type || type.getRank() == 0 || type.getShape().back() == 0)
    return emitOptionalError(location, "expected an operand with a non-empty last dimension");
  auto row = RankedTensorType::get({type.getShape().back()}, type.getElementType());
  if (adaptor.getWeight().getType() != row || adaptor.getBias().getType() != row)
    return emitOptionalError(location, "expected weight and bias of type ", row, " but got ",
                             adaptor.getWeight().getType(), " and ", adaptor.getBias().getType());
  auto statistics = withoutLast(type, getComputeType(type.getElementType()));
  results.append({type, statistics, statistics});
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(adaptor.getOperand().getType());
  if (!type || type.getRank() == 0 || type.getShape().back() == 0)
    return emitOptionalError(location, "expected an operand with a non-empty last dimension");
  auto row = RankedTensorType::get({type.getShape().back()}, type.getElementType());
  if (adaptor.getWeight().getType() != row)
    return emitOptionalError(location, "expected a weight of type ", row, " but got ",
                             adaptor.getWeight().getType());
  results.append({type, withoutLast(type, getComputeType(type.getElementType()))});
  return success();
}

//===-- Decompositions ------------------------------------------------------------------------===//

namespace {
/// Builds ops over rows: reductions of the last dimension and their broadcast back.
struct RowBuilder {
  ImplicitLocOpBuilder &b;
  RankedTensorType type;
  int64_t last = type.getRank() - 1;

  template <typename ReduceT> Value reduce(Value x) {
    return ReduceT::create(b, x, ArrayRef<int64_t>{last});
  }
  Value spread(Value row) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
    auto element = cast<RankedTensorType>(row.getType()).getElementType();
    return BroadcastOp::create(b, type.clone(element), row, dims);
  }
  Value spreadColumns(Value column) {
    return BroadcastOp::create(b, type, column, ArrayRef<int64_t>{last});
  }
  Value splat(RankedTensorType shape, double value) {
    return ConstantOp::create(
        b, DenseElementsAttr::get(shape, b.getFloatAttr(shape.getElementType(), value)));
  }
};
} // namespace

static RowBuilder rows(ImplicitLocOpBuilder &b, Value operand) {
  return {b, cast<RankedTensorType>(operand.getType())};
}

SmallVector<Value> SoftmaxOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  RowBuilder row = rows(b, operands[0]);
  Value shifted = SubOp::create(b, operands[0], row.spread(row.reduce<MaxOp>(operands[0])));
  Value exponential = ExpOp::create(b, shifted);
  return {DivOp::create(b, exponential, row.spread(row.reduce<SumOp>(exponential)))};
}

SmallVector<Value> LogSoftmaxOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  RowBuilder row = rows(b, operands[0]);
  Value shifted = SubOp::create(b, operands[0], row.spread(row.reduce<MaxOp>(operands[0])));
  Value sum = row.reduce<SumOp>(ExpOp::create(b, shifted));
  return {SubOp::create(b, shifted, row.spread(LogOp::create(b, sum)))};
}

SmallVector<Value> CrossEntropyOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  RowBuilder row = rows(b, operands[0]);
  Value shifted = SubOp::create(b, operands[0], row.spread(row.reduce<MaxOp>(operands[0])));
  Value sum = row.reduce<SumOp>(ExpOp::create(b, shifted));
  auto labelType = cast<RankedTensorType>(operands[1].getType());
  auto bound = [&](int64_t value) -> Value {
    return ConstantOp::create(
        b, DenseElementsAttr::get(labelType, b.getIntegerAttr(labelType.getElementType(), value)));
  };
  Value clamped = MinimumOp::create(b, MaximumOp::create(b, operands[1], bound(0)),
                                    bound(row.type.getShape().back() - 1));
  Value classes = IotaOp::create(b, row.type.clone(labelType.getElementType()), row.last);
  Value isLabel = CompareOp::create(b, ComparePredicate::eq, classes, row.spread(clamped));
  // We select the chosen element by a maximum with -inf, which is exact. A sum with zeros is not
  // (-0 + 0 = +0).
  Value others = row.splat(row.type, -std::numeric_limits<double>::infinity());
  Value chosen = row.reduce<MaxOp>(SelectOp::create(b, isLabel, shifted, others));
  return {SubOp::create(b, LogOp::create(b, sum), chosen)};
}

SmallVector<Value> LayerNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  RowBuilder row = rows(b, operands[0]);
  Value mean = row.reduce<MeanOp>(operands[0]);
  Value centred = SubOp::create(b, operands[0], row.spread(mean));
  Value variance = row.reduce<MeanOp>(MulOp::create(b, centred, centred));
  auto statistics = cast<RankedTensorType>(mean.getType());
  Value rstd = RsqrtOp::create(b, AddOp::create(b, variance, row.splat(statistics, getEpsilon())));
  Value normal = MulOp::create(b, centred, row.spread(rstd));
  Value scaled = MulOp::create(b, normal, row.spreadColumns(operands[1]));
  return {AddOp::create(b, scaled, row.spreadColumns(operands[2])), mean, rstd};
}

SmallVector<Value> RmsNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  RowBuilder row = rows(b, operands[0]);
  Value square = row.reduce<MeanOp>(MulOp::create(b, operands[0], operands[0]));
  auto statistics = cast<RankedTensorType>(square.getType());
  Value rstd = RsqrtOp::create(b, AddOp::create(b, square, row.splat(statistics, getEpsilon())));
  Value normal = MulOp::create(b, operands[0], row.spread(rstd));
  return {MulOp::create(b, normal, row.spreadColumns(operands[1])), rstd};
}
