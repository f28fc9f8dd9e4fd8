// reprise: short names for the ops that models are made of
#include "GraphBuilder.h"

#include <cmath>

using namespace mlir;

namespace reprise::zoo {

SmallVector<int64_t> GraphBuilder::allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(x.getType()).getRank()));
}

Value GraphBuilder::scalar(double value) {
  return ConstantOp::create(b, DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()),
                                                      static_cast<float>(value)));
}

Value GraphBuilder::dropout(Value x, double rate) {
  if (rate == 0.0)
    return x;
  return DropoutOp::create(b, x.getType(), x, Value(), Value(), Value(), b.getF64FloatAttr(rate),
                           IntegerAttr(), DenseI64ArrayAttr(), nullptr);
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return TransposeOp::create(b, x, permutation);
}
Value GraphBuilder::sum(Value x) { return SumOp::create(b, x, allDims(x)); }
Value GraphBuilder::mean(Value x) { return MeanOp::create(b, x, allDims(x)); }

Value GraphBuilder::layerNorm(Value x, Value weight, Value bias) {
  return LayerNormOp::create(b, x, weight, bias, b.getF64FloatAttr(1e-5)).getResult();
}

Value GraphBuilder::dot(Value x, Value y, ArrayRef<int64_t> xDims, ArrayRef<int64_t> yDims) {
  return DotGeneralOp::create(b, x, y, ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, xDims, yDims,
                              cast<RankedTensorType>(x.getType()).getElementType());
}

Value GraphBuilder::attention(Value q, Value k, Value v, double rate) {
  double size = cast<RankedTensorType>(q.getType()).getShape().back();
  return AttentionOp::create(b, q, k, v, Value(), Value(), Value(), Value(), Value(),
                             b.getF64FloatAttr(1.0 / std::sqrt(size)), b.getUnitAttr(),
                             b.getF64FloatAttr(rate), IntegerAttr(), DenseI64ArrayAttr(), nullptr)
      .getOut();
}

Value GraphBuilder::layer(bool checkpoint, Type type, llvm::function_ref<Value()> body) {
  Operation *op = checkpoint ? CheckpointOp::create(b, TypeRange{type}, StringAttr()).getOperation()
                             : BlockOp::create(b, TypeRange{type}).getOperation();
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op->getRegion(0));
  YieldOp::create(b, body());
  return op->getResult(0);
}

} // namespace reprise::zoo
