// reprise: emits the addresses of attention's operands, the visible keys of queries, and positions
// of words
#include "AttentionGeometry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {

Value AttentionGeometry::max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(x, y); }

HeadIndex AttentionGeometry::headOf(Value number, int64_t heads) {
  return {number, k.div(number, heads), k.rem(number, heads)};
}

HeadIndex AttentionGeometry::keyHeadOf(const HeadIndex &head) {
  return {k.div(head.number, spec.group()), head.batch, k.div(head.head, spec.group())};
}

HeadIndex AttentionGeometry::queryHeadOf(const HeadIndex &keyHead, Value number) {
  auto of = [&](Value first) { return k.add(k.mul(first, spec.group()), number); };
  return {of(keyHead.number), keyHead.batch, of(keyHead.head)};
}

Value AttentionGeometry::headBase(unsigned buffer, Type type, const AttentionStrides &strides,
                                  const HeadIndex &head) {
  Value offset = k.add(k.mul(head.batch, strides.batch), k.mul(head.head, strides.head));
  return emitAddress(b, type, k.buffer(buffer), offset);
}

AttentionDraw::AttentionDraw(AttentionGeometry &geometry, unsigned firstBuffer)
    : geometry(geometry) {
  const AttentionSpec &spec = geometry.spec;
  if (!spec.draws())
    return;
  KernelBuilder &k = geometry.k;
  Type i64 = geometry.b.getI64Type();
  stream = emitLoad(k.b, i64, k.buffer(firstBuffer), k.i64(0));
  seed = emitLoad(k.b, i64, k.buffer(firstBuffer + 1), k.i64(0));
  offset = emitLoad(k.b, i64, k.buffer(firstBuffer + 2), k.i64(0));
  for (int64_t d = 0; d < 4; ++d)
    origin[d] = spec.hasOrigin ? emitLoad(k.b, i64, k.buffer(firstBuffer + 3), k.i64(d)) : k.i64(0);
}

Value AttentionDraw::position(const HeadIndex &head, Value i) {
  KernelBuilder &k = geometry.k;
  ArrayRef<int64_t> shape = geometry.spec.globalShape;
  Value row = k.add(origin[0], head.batch);
  row = k.add(k.mul(row, shape[1]), k.add(origin[1], head.head));
  row = k.add(k.mul(row, shape[2]), k.add(origin[2], i));
  return k.add(offset, k.add(k.mul(row, shape[3]), origin[3]));
}

} // namespace reprise
