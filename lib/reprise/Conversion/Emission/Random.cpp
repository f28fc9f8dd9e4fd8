// reprise: the arithmetic of the random ops
#include "reprise/Conversion/Random.h"
#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace reprise {

static bool areConsecutiveBlocks(const DrawPosition &position) {
  return position.aligned && position.step == 1 && position.width % 4 == 0;
}

/// The position of every lane.
static Value emitPositions(ImplicitLocOpBuilder &b, const DrawPosition &position) {
  if (position.width == 1)
    return position.first;
  auto type = VectorType::get(position.width, b.getI64Type());
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < position.width; ++lane)
    steps.push_back(lane * position.step);
  Value distances =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
  return arith::AddIOp::create(b, vector::BroadcastOp::create(b, type, position.first), distances);
}

static Value emitWords(ImplicitLocOpBuilder &b, const DrawPosition &position) {
  if (areConsecutiveBlocks(position))
    return emitPhiloxWords(b, position.seed, position.stream, position.first, position.width,
                           position.words);
  return emitPhiloxWordsAt(b, position.seed, position.stream, emitPositions(b, position),
                           position.words);
}

static Value emitNormalDraw(ImplicitLocOpBuilder &b, RandomNormalOp op,
                            const DrawPosition &position) {
  Value value;
  if (areConsecutiveBlocks(position))
    value = emitNormal(b, emitWords(b, position), op.getMean(), op.getStd());
  else
    value = emitNormalAt(b, position.seed, position.stream, emitPositions(b, position),
                         op.getMean(), op.getStd(), position.words);
  Type elementType = op.getType().getElementType();
  if (!elementType.isF64())
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  return arith::ExtFOp::create(b, vector ? vector.clone(elementType) : elementType, value);
}

Value emitDraw(ImplicitLocOpBuilder &b, RandomOpInterface op, const DrawPosition &position,
               Value operand) {
  return llvm::TypeSwitch<Operation *, Value>(op.getOperation())
      .Case([&](RandomUniformOp draw) {
        return emitUniform(b, emitWords(b, position), draw.getType().getElementType(),
                           draw.getLow(), draw.getHigh());
      })
      .Case([&](RandomUniformIntOp draw) {
        return emitUniformInt(b, emitWords(b, position), draw.getType().getElementType(),
                              static_cast<int64_t>(draw.getLow()),
                              static_cast<int64_t>(draw.getHigh()));
      })
      .Case([&](RandomNormalOp draw) { return emitNormalDraw(b, draw, position); })
      .Case([&](RandomBernoulliOp draw) {
        return emitBernoulli(b, emitWords(b, position), draw.getProbability());
      })
      .Case([&](DropoutOp draw) {
        return emitDropout(b, emitWords(b, position), operand, draw.getRate());
      });
}

} // namespace reprise
