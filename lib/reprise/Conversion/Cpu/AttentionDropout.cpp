// reprise: emits the dropout of attention's probabilities
#include "AttentionParts.h"
#include "reprise/Conversion/Random.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace reprise {

AttentionDropout::AttentionDropout(AttentionParts &parts, unsigned firstBuffer)
    : parts(parts), draw(parts, firstBuffer) {}

Value AttentionDropout::rowPositions(const HeadIndex &head, Value i) {
  KernelBuilder &k = parts.k;
  Value first = draw.position(head, i);
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < parts.plan.width; ++lane)
    steps.push_back(lane * parts.spec.globalShape[3]);
  auto type = VectorType::get(parts.plan.width, k.b.getI64Type());
  Value lanes =
      arith::ConstantOp::create(k.b, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
  return arith::AddIOp::create(k.b, emitSplat(k.b, first, parts.plan.width), lanes);
}

std::array<Value, 4> AttentionDropout::words(Value rowPositions, Value key) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = k.b;
  Type type = rowPositions.getType();
  Value positions = arith::AddIOp::create(b, rowPositions, emitSplat(b, key, parts.plan.width));
  // Offsets are multiples of 4: four neighbouring keys share a block if their rows begin with one.
  auto together = [&] {
    return emitPhiloxBlocks(b, draw.seed, draw.stream,
                            arith::ShRUIOp::create(b, positions, emitConstant(b, type, 2)));
  };
  auto singly = [&] {
    std::array<Value, 4> words;
    for (int64_t u = 0; u < 4; ++u)
      words[u] = emitPhiloxWordsAt(b, draw.seed, draw.stream,
                                   arith::AddIOp::create(b, positions, emitConstant(b, type, u)));
    return words;
  };
  if (parts.spec.globalShape[3] % 4 != 0)
    return singly();
  if (!parts.spec.hasOrigin)
    return together();
  Value aligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.rem(draw.origin[3], 4), k.i64(0));
  SmallVector<Type> types(4, VectorType::get(parts.plan.width, b.getI32Type()));
  auto choice = scf::IfOp::create(b, types, aligned, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, ValueRange(together()));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, ValueRange(singly()));
  return {choice.getResult(0), choice.getResult(1), choice.getResult(2), choice.getResult(3)};
}

Value AttentionDropout::apply(Value words, Value x) {
  return emitDropout(parts.b, words, x, parts.spec.rate);
}

} // namespace reprise
