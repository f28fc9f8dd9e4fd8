// reprise: the arithmetic of the random ops
#include "reprise/Conversion/Random.h"
#include "reprise/Conversion/Emission.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

// Each op that draws single elements has an overload.
using Builder = ImplicitLocOpBuilder;
static Value emit(RandomUniformOp op, Builder &b, const DrawPosition &position, Value) {
  return emitUniform(b, emitWords(b, position), op.getType().getElementType(), op.getLow(),
                     op.getHigh());
}
static Value emit(RandomUniformIntOp op, Builder &b, const DrawPosition &position, Value) {
  return emitUniformInt(b, emitWords(b, position), op.getType().getElementType(),
                        static_cast<int64_t>(op.getLow()), static_cast<int64_t>(op.getHigh()));
}
static Value emit(RandomNormalOp op, Builder &b, const DrawPosition &position, Value) {
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

static Value emit(RandomBernoulliOp op, Builder &b, const DrawPosition &position, Value) {
  return emitBernoulli(b, emitWords(b, position), op.getProbability());
}
static Value emit(DropoutOp op, Builder &b, const DrawPosition &position, Value operand) {
  return emitDropout(b, emitWords(b, position), operand, op.getRate());
}

Value emitDraw(Builder &b, RandomOpInterface op, const DrawPosition &position, Value operand) {
  Value drawn;
  dispatchOp<RandomOpInterface, LoopOpInterface>(
      op, [&](auto draw) { drawn = emit(draw, b, position, operand); });
  return drawn;
}

} // namespace reprise
