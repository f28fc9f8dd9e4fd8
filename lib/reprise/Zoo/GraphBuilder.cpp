// reprise: short names for the ops of models
#include "GraphBuilder.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

SmallVector<int64_t> allDimsOf(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
}

Value GraphBuilder::cast(Value x, Type element) {
  return CastOp::create(b, typeOf(x).clone(element), x);
}

/// `x` as an operand of a contraction.
static Value narrow(GraphBuilder &g, Value x) { return g.contracted ? g.cast(x, g.contracted) : x; }

/// Returns the result of a contraction in the type that other ops use.
static Value widen(GraphBuilder &g, Value x) {
  return g.contracted ? g.cast(x, g.b.getF32Type()) : x;
}

Value GraphBuilder::round(Value x) { return widen(*this, narrow(*this, x)); }

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
  return ReshapeOp::create(b, typeOf(x).clone(shape), x);
}

Value GraphBuilder::broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return BroadcastOp::create(b, typeOf(x).clone(shape), x, dims);
}

Value GraphBuilder::slice(Value x, int64_t dim, int64_t from, int64_t to) {
  SmallVector<int64_t> starts(typeOf(x).getRank(), 0), strides(typeOf(x).getRank(), 1);
  SmallVector<int64_t> limits = llvm::to_vector(shapeOf(x));
  starts[dim] = from;
  limits[dim] = to;
  return SliceOp::create(b, x, starts, limits, strides);
}

Value GraphBuilder::batchedDot(Value x, Value y, int64_t batch, ArrayRef<int64_t> xDims,
                               ArrayRef<int64_t> yDims) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  Type element = contracted ? contracted : typeOf(x).getElementType();
  return widen(*this, DotGeneralOp::create(b, narrow(*this, x), narrow(*this, y), dims, dims, xDims,
                                           yDims, element));
}

Value convolution(GraphBuilder &g, Value image, Value filter, int64_t stride, int64_t padding) {
  auto steps = [&](int64_t dim) {
    return (sizeOf(image, dim) + 2 * padding - sizeOf(filter, dim)) / stride + 1;
  };
  auto result = RankedTensorType::get({sizeOf(image, 0), sizeOf(filter, 0), steps(2), steps(3)},
                                      g.contracted ? g.contracted : g.b.getF32Type());
  int64_t strides[] = {stride, stride}, paddings[] = {padding, padding}, dilation[] = {1, 1};
  return widen(g, ConvolutionOp::create(g.b, result, narrow(g, image), narrow(g, filter), strides,
                                        paddings, paddings, dilation));
}

Value upsample(GraphBuilder &g, Value image, Value filter) {
  auto result = RankedTensorType::get(
      {sizeOf(image, 0), sizeOf(filter, 1), 2 * sizeOf(image, 2), 2 * sizeOf(image, 3)},
      g.contracted ? g.contracted : g.b.getF32Type());
  int64_t strides[] = {2, 2}, paddings[] = {0, 0}, dilation[] = {1, 1};
  return widen(g, ConvolutionTransposeOp::create(g.b, result, narrow(g, image), narrow(g, filter),
                                                 strides, paddings, paddings, dilation));
}

Value maxPool(GraphBuilder &g, Value image, int64_t window, int64_t stride, int64_t padding) {
  SmallVector<int64_t> shape = llvm::to_vector(shapeOf(image));
  for (int64_t &n : MutableArrayRef(shape).drop_front(2))
    n = (n + 2 * padding - window) / stride + 1;
  auto result = typeOf(image).clone(shape);
  int64_t windows[] = {window, window}, strides[] = {stride, stride};
  int64_t paddings[] = {padding, padding};
  return MaxPoolOp::create(g.b, result, RankedTensorType::get(shape, g.b.getI32Type()), image,
                           windows, strides, paddings, paddings)
      .getResult();
}

Value attention(GraphBuilder &g, Value q, Value k, Value v, Value mask, bool causal, double rate) {
  double depth = sizeOf(q, 3);
  auto op = AttentionOp::create(
      g.b, narrow(g, q), narrow(g, k), narrow(g, v), /*bias=*/Value(), mask, Value(), Value(),
      Value(), g.b.getF64FloatAttr(1.0 / std::sqrt(depth)), causal ? g.b.getUnitAttr() : UnitAttr(),
      g.b.getF64FloatAttr(rate), IntegerAttr(), DenseI64ArrayAttr(), nullptr);
  return widen(g, op.getOut());
}

Attribute normalInit(Builder &b, double std) {
  return NormalInitAttr::get(b.getContext(), b.getF64FloatAttr(0), b.getF64FloatAttr(std));
}
Attribute fillInit(Builder &b, double value) {
  return FillInitAttr::get(b.getContext(), b.getF64FloatAttr(value));
}

Attribute integerInit(Builder &b, int64_t low, int64_t high) {
  return UniformIntInitAttr::get(b.getContext(), low, high);
}

} // namespace reprise::zoo
