// reprise: short names for the ops that models are made of
#include "GraphBuilder.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

SmallVector<int64_t> GraphBuilder::allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, type(x).getRank()));
}

Value GraphBuilder::cast(Value x, Type element) {
  return CastOp::create(b, type(x).clone(element), x);
}

Value GraphBuilder::splat(ArrayRef<int64_t> shape, double value, Type element) {
  auto type = RankedTensorType::get(shape, element ? element : b.getF32Type());
  if (type.getElementType().isInteger())
    return ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), int64_t(value))));
  return ConstantOp::create(b, DenseElementsAttr::get(type, static_cast<float>(value)));
}

Value GraphBuilder::iota(ArrayRef<int64_t> shape, int64_t dim, Type element) {
  return IotaOp::create(b, RankedTensorType::get(shape, element ? element : b.getF32Type()), dim);
}

Value GraphBuilder::dropout(Value x, double rate) {
  if (rate == 0.0)
    return x;
  return DropoutOp::create(b, x.getType(), x, Value(), Value(), Value(), b.getF64FloatAttr(rate),
                           IntegerAttr(), DenseI64ArrayAttr(), nullptr);
}

Value GraphBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(b, type(x).clone(shape), x);
}

Value GraphBuilder::broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return BroadcastOp::create(b, type(x).clone(shape), x, dims);
}

Value GraphBuilder::slice(Value x, int64_t dim, int64_t from, int64_t to) {
  SmallVector<int64_t> starts(type(x).getRank(), 0), strides(type(x).getRank(), 1);
  SmallVector<int64_t> limits = llvm::to_vector(shape(x));
  starts[dim] = from;
  limits[dim] = to;
  return SliceOp::create(b, x, starts, limits, strides);
}

Value GraphBuilder::batchedDot(Value x, Value y, int64_t batch, ArrayRef<int64_t> xDims,
                               ArrayRef<int64_t> yDims) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  Type element = contracted ? contracted : type(x).getElementType();
  return widen(DotGeneralOp::create(b, narrow(x), narrow(y), dims, dims, xDims, yDims, element));
}

Value GraphBuilder::convolution(Value image, Value filter, int64_t stride, int64_t padding) {
  auto steps = [&](int64_t dim) {
    return (size(image, dim) + 2 * padding - size(filter, dim)) / stride + 1;
  };
  auto result = RankedTensorType::get({size(image, 0), size(filter, 0), steps(2), steps(3)},
                                      contracted ? contracted : b.getF32Type());
  int64_t strides[] = {stride, stride}, paddings[] = {padding, padding}, dilation[] = {1, 1};
  return widen(ConvolutionOp::create(b, result, narrow(image), narrow(filter), strides, paddings,
                                     paddings, dilation));
}

Value GraphBuilder::upsample(Value image, Value filter) {
  auto result = RankedTensorType::get(
      {size(image, 0), size(filter, 1), 2 * size(image, 2), 2 * size(image, 3)},
      contracted ? contracted : b.getF32Type());
  int64_t strides[] = {2, 2}, paddings[] = {0, 0}, dilation[] = {1, 1};
  return widen(ConvolutionTransposeOp::create(b, result, narrow(image), narrow(filter), strides,
                                              paddings, paddings, dilation));
}

Value GraphBuilder::maxPool(Value image, int64_t window, int64_t stride, int64_t padding) {
  SmallVector<int64_t> shape = llvm::to_vector(GraphBuilder::shape(image));
  for (int64_t &n : MutableArrayRef(shape).drop_front(2))
    n = (n + 2 * padding - window) / stride + 1;
  auto result = type(image).clone(shape);
  int64_t windows[] = {window, window}, strides[] = {stride, stride};
  int64_t paddings[] = {padding, padding};
  return MaxPoolOp::create(b, result, RankedTensorType::get(shape, b.getI32Type()), image, windows,
                           strides, paddings, paddings)
      .getResult();
}

Value GraphBuilder::attention(Value q, Value k, Value v, Value mask, bool causal, double rate) {
  double depth = size(q, 3);
  auto op = AttentionOp::create(b, narrow(q), narrow(k), narrow(v), /*bias=*/Value(), mask, Value(),
                                Value(), Value(), b.getF64FloatAttr(1.0 / std::sqrt(depth)),
                                causal ? b.getUnitAttr() : UnitAttr(), b.getF64FloatAttr(rate),
                                IntegerAttr(), DenseI64ArrayAttr(), nullptr);
  return widen(op.getOut());
}

Attribute GraphBuilder::normalInit(double std) {
  return NormalInitAttr::get(b.getContext(), b.getF64FloatAttr(0), b.getF64FloatAttr(std));
}
Attribute GraphBuilder::fillInit(double value) {
  return FillInitAttr::get(b.getContext(), b.getF64FloatAttr(value));
}

} // namespace reprise::zoo
