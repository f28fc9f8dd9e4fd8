// reprise: emits the dropout of attention's probabilities
#include "AttentionParts.h"
#include "reprise/Conversion/Random.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace reprise {

AttentionDropout::AttentionDropout(AttentionParts &parts, unsigned firstBuffer) : parts(parts) {
  if (!parts.spec.draws())
    return;
  KernelBuilder &k = parts.k;
  Type i64 = k.builder().getI64Type();
  stream = k.load(i64, k.buffer(firstBuffer), k.i64(0));
  seed = k.load(i64, k.buffer(firstBuffer + 1), k.i64(0));
  offset = k.load(i64, k.buffer(firstBuffer + 2), k.i64(0));
  for (int64_t d = 0; d < 4; ++d)
    origin[d] = parts.spec.hasOrigin ? k.load(i64, k.buffer(firstBuffer + 3), k.i64(d)) : k.i64(0);
}

Value AttentionDropout::rowPositions(const HeadIndex &head, Value i) {
  KernelBuilder &k = parts.k;
  ArrayRef<int64_t> shape = parts.spec.globalShape;
  Value row = k.add(origin[0], head.batch);
  row = k.add(k.mul(row, shape[1]), k.add(origin[1], head.head));
  row = k.add(k.mul(row, shape[2]), k.add(origin[2], i));
  Value first = k.add(offset, k.add(k.mul(row, shape[3]), origin[3]));
  SmallVector<int64_t> steps;
  for (int64_t lane = 0; lane < parts.plan.width; ++lane)
    steps.push_back(lane * shape[3]);
  auto type = VectorType::get(parts.plan.width, k.builder().getI64Type());
  Value lanes = arith::ConstantOp::create(k.builder(),
                                          DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
  return arith::AddIOp::create(k.builder(), k.splat(first, parts.plan.width), lanes);
}

std::array<Value, 4> AttentionDropout::words(Value rowPositions, Value key) {
  KernelBuilder &k = parts.k;
  ImplicitLocOpBuilder &b = k.builder();
  Type type = rowPositions.getType();
  Value positions = arith::AddIOp::create(b, rowPositions, k.splat(key, parts.plan.width));
  // Offsets are multiples of 4: four neighbouring keys share a block if their rows begin with one.
  auto together = [&] {
    return emitPhiloxBlocks(b, seed, stream,
                            arith::ShRUIOp::create(b, positions, k.constant(type, 2)));
  };
  auto singly = [&] {
    std::array<Value, 4> words;
    for (int64_t u = 0; u < 4; ++u)
      words[u] = emitPhiloxWordsAt(b, seed, stream,
                                   arith::AddIOp::create(b, positions, k.constant(type, u)));
    return words;
  };
  if (parts.spec.globalShape[3] % 4 != 0)
    return singly();
  if (!parts.spec.hasOrigin)
    return together();
  Value aligned = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k.rem(origin[3], 4), k.i64(0));
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
