// reprise: random ops in the interpreter.
#include "Draws.h"

using namespace mlir;

namespace reprise::reference {

/// The tensor of an optional operand that is there.
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

namespace {

/// `element(draw, index)` for every element; T is its type.
template <typename T, typename OpT, typename Element>
Results drawElements(OpT op, Operands operands, Element element) {
  auto random = cast<RandomOpInterface>(op.getOperation());
  Draw draw = drawOf(random, operands);
  std::vector<T> values;
  for (int64_t index : globalIndices(random, operands))
    values.push_back(element(draw, static_cast<uint64_t>(index)));
  return single(round(resultType(op), values));
}

Results evaluateUniform(RandomUniformOp op, Operands operands) {
  Type type = op.getType().getElementType();
  double low = op.getLow(), high = op.getHigh();
  if (type.isF64())
    return drawElements<double>(op, operands, [&](Draw draw, uint64_t index) {
      return uniformF64(draw, index, low, high);
    });
  auto uniform = type.isBF16() ? uniformBf16 : type.isF16() ? uniformF16 : uniformF32;
  return drawElements<float>(
      op, operands, [&](Draw draw, uint64_t index) { return uniform(draw, index, low, high); });
}

Results evaluateUniformInt(RandomUniformIntOp op, Operands operands) {
  auto element = [&](Draw draw, uint64_t index) {
    return uniformInt(draw, index, static_cast<int64_t>(op.getLow()),
                      static_cast<int64_t>(op.getHigh()));
  };
  return op.getType().getElementType().isInteger(32) ? drawElements<int32_t>(op, operands, element)
                                                     : drawElements<int64_t>(op, operands, element);
}

Results evaluateNormal(RandomNormalOp op, Operands operands) {
  auto element = [&](Draw draw, uint64_t index) {
    return normal(draw, index, op.getMean(), op.getStd());
  };
  // Draws are f32 for every type; f64 holds them as they are.
  return op.getType().getElementType().isF64() ? drawElements<double>(op, operands, element)
                                               : drawElements<float>(op, operands, element);
}

Results evaluateBernoulli(RandomBernoulliOp op, Operands operands) {
  return drawElements<uint8_t>(op, operands, [&](Draw draw, uint64_t index) {
    return bernoulli(draw, index, op.getProbability());
  });
}

Results evaluateDropout(DropoutOp op, Operands operands) {
  return withFloat(op.getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    Values<T> x(*operands[0]);
    int64_t i = 0;
    return drawElements<T>(op, operands, [&](Draw draw, uint64_t index) {
      return dropout(draw, index, x[i++], op.getRate());
    });
  });
}

} // namespace

void attachRandom(MLIRContext *context) {
  attach<evaluateUniform>(context);
  attach<evaluateUniformInt>(context);
  attach<evaluateNormal>(context);
  attach<evaluateBernoulli>(context);
  attach<evaluateDropout>(context);
}

} // namespace reprise::reference
