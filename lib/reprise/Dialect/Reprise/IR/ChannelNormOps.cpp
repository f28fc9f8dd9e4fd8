// reprise: normalizations of channels: types and their definition as chains of simpler ops.
#include "reprise/Dialect/Reprise/IR/Groups.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

/// The [c] of an operand [n, c, spatial…] without empty dimensions; null, and an error, otherwise.
static RankedTensorType channelsOf(std::optional<Location> location, Type operand) {
  auto type = dyn_cast<RankedTensorType>(operand);
  if (type && type.getRank() >= 2 && !llvm::is_contained(type.getShape(), 0))
    return RankedTensorType::get({type.getDimSize(1)}, type.getElementType());
  (void)emitOptionalError(location, "expected a non-empty operand [n, c, spatial…] but got ",
                          operand);
  return {};
}

/// Fails unless all `values` have the type `channels`.
static LogicalResult checkChannels(std::optional<Location> location, ValueRange values,
                                   RankedTensorType channels) {
  for (Value value : values)
    if (value.getType() != channels)
      return emitOptionalError(location, "expected values per channel of type ", channels,
                               " but got ", value.getType());
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getOperand().getType();
  RankedTensorType channels = channelsOf(location, type);
  if (!channels ||
      failed(checkChannels(location, {adaptor.getWeight(), adaptor.getBias()}, channels)))
    return failure();
  Type statistics = channels.clone(getComputeType(channels.getElementType()));
  results.append({type, statistics, statistics});
  return success();
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &results) {
  Type type = adaptor.getOperand().getType();
  RankedTensorType channels = channelsOf(location, type);
  if (!channels ||
      failed(checkChannels(location, {adaptor.getWeight(), adaptor.getBias()}, channels)) ||
      failed(checkChannels(location, {adaptor.getMean(), adaptor.getVariance()},
                           channels.clone(getComputeType(channels.getElementType())))))
    return failure();
  results.push_back(type);
  return success();
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getOperand().getType();
  RankedTensorType channels = channelsOf(location, type);
  if (!channels ||
      failed(checkChannels(location, {adaptor.getWeight(), adaptor.getBias()}, channels)))
    return failure();
  int64_t groups = adaptor.getGroups();
  if (groups < 1 || channels.getDimSize(0) % groups != 0)
    return emitOptionalError(location, "expected groups that divide ", channels.getDimSize(0),
                             " channels, got ", groups);
  auto statistics = RankedTensorType::get({cast<RankedTensorType>(type).getDimSize(0), groups},
                                          getComputeType(channels.getElementType()));
  results.append({type, statistics, statistics});
  return success();
}

LogicalResult BatchStatisticsOp::verify() {
  if (static_cast<int64_t>(getCount()) < 2)
    return emitOpError(
               "expected a count of at least 2, since one element has no variance, but got ")
           << static_cast<int64_t>(getCount());
  return success();
}

//===-- Decompositions ------------------------------------------------------------------------===//

namespace {
/// Statistics over all dimensions of `type` except `kept`, and their broadcasts back.
struct Statistics {
  ImplicitLocOpBuilder &b;
  RankedTensorType type;
  SmallVector<int64_t> kept;

  Value spread(Value value) { return BroadcastOp::create(b, type, value, kept); }
  Value mean(Value x) {
    SmallVector<int64_t> reduced;
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (!llvm::is_contained(kept, d))
        reduced.push_back(d);
    return MeanOp::create(b, x, reduced);
  }
  Value centre(Value x, Value mean) { return SubOp::create(b, x, spread(mean)); }
  Value rstd(Value variance, double epsilon) {
    auto shape = cast<RankedTensorType>(variance.getType());
    auto splat = DenseElementsAttr::get(shape, b.getFloatAttr(shape.getElementType(), epsilon));
    return RsqrtOp::create(b, AddOp::create(b, variance, ConstantOp::create(b, splat)));
  }
};
} // namespace

static Value scaleAndShift(ImplicitLocOpBuilder &b, Value normal, Value weight, Value bias) {
  auto spread = [&](Value value) {
    return BroadcastOp::create(b, normal.getType(), value, ArrayRef<int64_t>{1});
  };
  return AddOp::create(b, MulOp::create(b, normal, spread(weight)), spread(bias));
}

SmallVector<Value> BatchNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  Statistics channel{b, cast<RankedTensorType>(operands[0].getType()), {1}};
  auto meanOfGroup = [&](Value x) {
    Value mean = channel.mean(x);
    mean.getDefiningOp()->setDiscardableAttr(kPerGroupAttr, b.getUnitAttr());
    return mean;
  };
  Value mean = meanOfGroup(operands[0]);
  Value centred = channel.centre(operands[0], mean);
  Value variance = meanOfGroup(MulOp::create(b, centred, centred));
  Value normal = MulOp::create(b, centred, channel.spread(channel.rstd(variance, getEpsilon())));
  return {scaleAndShift(b, normal, operands[1], operands[2]), mean, variance};
}

SmallVector<Value> BatchStatisticsOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  auto type = cast<RankedTensorType>(operands[1].getType());
  auto all = [&](int64_t value) -> Value {
    auto each = b.getFloatAttr(type.getElementType(), static_cast<double>(value));
    return ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(each)));
  };
  int64_t count = getCount();
  Value sum = MulOp::create(b, operands[1], all(count));
  return {operands[0], DivOp::create(b, sum, all(count - 1))};
}

SmallVector<Value> BatchNormInferenceOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  Statistics channel{b, cast<RankedTensorType>(operands[0].getType()), {1}};
  Value rstd = channel.rstd(operands[4], getEpsilon());
  Value normal = MulOp::create(b, channel.centre(operands[0], operands[3]), channel.spread(rstd));
  return {scaleAndShift(b, normal, operands[1], operands[2])};
}

SmallVector<Value> GroupNormOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  auto type = cast<RankedTensorType>(operands[0].getType());
  // [n, groups, the rest of a group]
  int64_t samples = type.getDimSize(0), groups = getGroups();
  Statistics group{
      b,
      RankedTensorType::get({samples, groups, type.getNumElements() / (samples * groups)},
                            type.getElementType()),
      {0, 1}};
  Value x = ReshapeOp::create(b, group.type, operands[0]);
  Value mean = group.mean(x);
  Value centred = group.centre(x, mean);
  Value variance = group.mean(MulOp::create(b, centred, centred));
  Value rstd = group.rstd(variance, getEpsilon());
  Value normal = MulOp::create(b, centred, group.spread(rstd));
  Value result = scaleAndShift(b, ReshapeOp::create(b, type, normal), operands[1], operands[2]);
  return {result, mean, rstd};
}
