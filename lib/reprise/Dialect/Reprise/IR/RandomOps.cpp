// reprise: random draws: effects and verification.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

void reprise::addDrawEffects(
    Operation *op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  auto random = cast<RandomOpInterface>(op);
  if (random.draws() && !random.getSeedOperand())
    effects.emplace_back(MemoryEffects::Write::get());
}

static LogicalResult verifyParameters(Operation *op) {
  if (auto draw = dyn_cast<RandomUniformIntOp>(op)) {
    uint64_t range = static_cast<uint64_t>(static_cast<int64_t>(draw.getHigh())) -
                     static_cast<uint64_t>(static_cast<int64_t>(draw.getLow()));
    if (static_cast<int64_t>(draw.getLow()) >= static_cast<int64_t>(draw.getHigh()) ||
        range > (uint64_t{1} << 32))
      return op->emitOpError("expected a range [low, high) of 1 to 2^32 integers");
    constexpr int64_t end = int64_t{1} << 31;
    if (draw.getType().getElementType().isInteger(32) &&
        (static_cast<int64_t>(draw.getLow()) < -end || static_cast<int64_t>(draw.getHigh()) > end))
      return op->emitOpError("expected a range [low, high) of i32");
  }
  if (auto dropout = dyn_cast<DropoutOp>(op);
      dropout && !(dropout.getRate() >= 0.0 && dropout.getRate() <= 1.0))
    return op->emitOpError("expected a dropout rate in [0, 1], got ") << dropout.getRate();
  if (auto draw = dyn_cast<RandomBernoulliOp>(op);
      draw && !(draw.getProbability() >= 0.0 && draw.getProbability() <= 1.0))
    return op->emitOpError("expected a probability in [0, 1], got ") << draw.getProbability();
  return success();
}

LogicalResult reprise::verifyDraw(Operation *op) {
  auto random = cast<RandomOpInterface>(op);
  if (!random.getSeedOperand() != !random.getOffsetOperand())
    return op->emitOpError("expected seed and offset together");
  if (random.draws() && random.getSeedOperand() && !random.getStreamNumber())
    return op->emitOpError("expected a stream beside the seed");
  SmallVector<int64_t> drawn = random.getDrawnShape(), global = random.getDrawnGlobalShape();
  if (drawn.size() != global.size())
    return op->emitOpError("expected a global shape of rank ") << drawn.size();
  for (auto [mine, all] : llvm::zip(drawn, global))
    if (mine > all)
      return op->emitOpError("expected a global shape that contains the drawn one");
  if (Value origin = random.getOriginOperand())
    if (cast<ShapedType>(origin.getType()).getShape() !=
        ArrayRef<int64_t>{static_cast<int64_t>(drawn.size())})
      return op->emitOpError("expected an origin of one index per dimension");
  return verifyParameters(op);
}
