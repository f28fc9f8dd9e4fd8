// reprise: random ops in the interpreter.
#include "Draws.h"

using namespace mlir;

namespace reprise::reference {

/// Returns the tensor of an optional operand that exists.
static const Tensor &operandOf(Operation *op, Value value, Operands operands) {
  auto place = llvm::find(op->getOperands(), value);
  return *operands[std::distance(op->operand_begin(), place)];
}

Draw drawOf(RandomOpInterface op, Operands operands) {
  auto scalar = [&](Value value) {
    return static_cast<uint64_t>(operandOf(op, value, operands).data<int64_t>()[0]);
  };
  return {scalar(op.getSeedOperand()), static_cast<uint64_t>(*op.getStreamNumber()),
          scalar(op.getOffsetOperand())};
}

std::vector<int64_t> globalIndices(RandomOpInterface op, Operands operands) {
  SmallVector<int64_t> strides = stridesOf(op.getDrawnGlobalShape());
  int64_t start = 0;
  if (Value origin = op.getOriginOperand())
    for (auto [d, stride] : llvm::enumerate(strides))
      start += operandOf(op, origin, operands).data<int64_t>()[d] * stride;
  return positions(op.getDrawnShape(), strides, start);
}

/// Returns `element(index)` for every index; T is its return type.
template <typename T, typename Element>
static Tensor drawElements(RankedTensorType type, ArrayRef<int64_t> indices, Element element) {
  std::vector<T> values;
  for (int64_t index : indices)
    values.push_back(element(static_cast<uint64_t>(index)));
  return round(type, values);
}

Tensor drawUniform(RankedTensorType type, Draw draw, ArrayRef<int64_t> indices, double low,
                   double high) {
  Type element = type.getElementType();
  if (element.isF64())
    return drawElements<double>(type, indices,
                                [&](uint64_t i) { return uniformF64(draw, i, low, high); });
  auto uniform = element.isBF16() ? uniformBf16 : element.isF16() ? uniformF16 : uniformF32;
  return drawElements<float>(type, indices,
                             [&](uint64_t i) { return uniform(draw, i, low, high); });
}

Tensor drawUniformInt(RankedTensorType type, Draw draw, ArrayRef<int64_t> indices, int64_t low,
                      int64_t high) {
  auto element = [&](uint64_t i) { return uniformInt(draw, i, low, high); };
  if (type.getElementType().isInteger(1))
    return drawElements<uint8_t>(type, indices, [&](uint64_t i) { return element(i) != 0; });
  return type.getElementType().isInteger(32) ? drawElements<int32_t>(type, indices, element)
                                             : drawElements<int64_t>(type, indices, element);
}

Tensor drawNormal(RankedTensorType type, Draw draw, ArrayRef<int64_t> indices, double mean,
                  double std) {
  auto element = [&](uint64_t i) { return normal(draw, i, mean, std); };
  // Draws are f32 for every type; f64 holds them exactly.
  return type.getElementType().isF64() ? drawElements<double>(type, indices, element)
                                       : drawElements<float>(type, indices, element);
}

namespace {

template <typename OpT> RandomOpInterface random(OpT op) {
  return cast<RandomOpInterface>(op.getOperation());
}

Results evaluateUniform(RandomUniformOp op, Operands operands) {
  return single(drawUniform(op.getType(), drawOf(random(op), operands),
                            globalIndices(random(op), operands), op.getLow(), op.getHigh()));
}

Results evaluateUniformInt(RandomUniformIntOp op, Operands operands) {
  return single(drawUniformInt(
      op.getType(), drawOf(random(op), operands), globalIndices(random(op), operands),
      static_cast<int64_t>(op.getLow()), static_cast<int64_t>(op.getHigh())));
}

Results evaluateNormal(RandomNormalOp op, Operands operands) {
  return single(drawNormal(op.getType(), drawOf(random(op), operands),
                           globalIndices(random(op), operands), op.getMean(), op.getStd()));
}

Results evaluateBernoulli(RandomBernoulliOp op, Operands operands) {
  Draw draw = drawOf(random(op), operands);
  return single(
      drawElements<uint8_t>(op.getType(), globalIndices(random(op), operands),
                            [&](uint64_t i) { return bernoulli(draw, i, op.getProbability()); }));
}

Results evaluateDropout(DropoutOp op, Operands operands) {
  Draw draw = drawOf(random(op), operands);
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> x(*operands[0]);
    int64_t i = 0;
    return drawElements<T>(op.getType(), globalIndices(random(op), operands), [&](uint64_t index) {
      return dropout(draw, index, x[i++], op.getRate());
    });
  }));
}

} // namespace

REPRISE_EVALUATE(RandomUniformOp, evaluateUniform)
REPRISE_EVALUATE(RandomUniformIntOp, evaluateUniformInt)
REPRISE_EVALUATE(RandomNormalOp, evaluateNormal)
REPRISE_EVALUATE(RandomBernoulliOp, evaluateBernoulli)
REPRISE_EVALUATE(DropoutOp, evaluateDropout)

} // namespace reprise::reference
