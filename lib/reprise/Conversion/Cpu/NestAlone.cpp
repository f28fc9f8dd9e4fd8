// reprise: kernels of ops that no loop nest computes: what they share
#include "NestAlone.h"

#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::nests {

SmallVector<EmittedCommand> emitAlone(const AloneOp &alone) {
  if (isa<DynamicUpdateOp>(alone.op))
    return emitWindowUpdate(alone);
  if (isa<CumsumOp>(alone.op))
    return {emitCumsum(alone)};
  if (isa<TopKOp>(alone.op))
    return {emitTopK(alone)};
  return {emitScatter(alone)};
}

Type bitsTypeOf(Type elementType) {
  return IntegerType::get(elementType.getContext(), KernelBuilder::bytesOf(elementType) * 8);
}

Value loadPosition(KernelBuilder &k, Type indexType, Value buffer, Value at, int64_t size) {
  ImplicitLocOpBuilder &b = k.builder();
  Value position = emitCast(b, k.load(indexType, buffer, at), b.getI64Type());
  position = arith::MaxSIOp::create(b, position, k.i64(0));
  return arith::MinSIOp::create(b, position, k.i64(size - 1));
}

void forVectors(KernelBuilder &k, Value count, int64_t width,
                llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = k.builder().createOrFold<arith::AndIOp>(count, k.i64(-width));
  k.forLoop(k.i64(0), whole, k.i64(width), [&](Value i) { body(i, width); });
  k.forLoop(whole, count, k.i64(1), [&](Value i) { body(i, 1); });
}

void copyUnlessSame(KernelBuilder &k, Type bits, Value from, Value to, Value begin, Value count,
                    int64_t width) {
  Value differ = LLVM::ICmpOp::create(k.builder(), LLVM::ICmpPredicate::ne, from, to);
  k.ifThen(differ, [&] {
    forVectors(k, count, width, [&](Value i, int64_t lanes) {
      Value at = k.add(begin, i);
      k.store(bits, k.load(bits, from, at, lanes), to, at);
    });
  });
}

} // namespace reprise::nests
