// reprise: common parts of the kernels of ops that no loop nest computes
#include "NestAlone.h"

#include "reprise/Dialect/Reprise/IR/OpList.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::nests {

SmallVector<EmittedCommand> emitAlone(const AloneLaunch &alone) {
  AloneCommands commands;
  dispatchOp<AloneOpInterface>(alone.op, [&](auto op) { commands = emit(op, alone); });
  return commands;
}

AloneCommands emit(CustomCallOp op, const AloneLaunch &alone) {
  return {emitHostCall(op, alone.stored)};
}

void forVectors(KernelBuilder &k, Value count, int64_t width,
                llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = k.b.createOrFold<arith::AndIOp>(count, k.i64(-width));
  forLoop(k, k.i64(0), whole, k.i64(width), [&](Value i) { body(i, width); });
  forLoop(k, whole, count, k.i64(1), [&](Value i) { body(i, 1); });
}

void copyUnlessSame(KernelBuilder &k, Type bits, Value from, Value to, Value begin, Value count,
                    int64_t width) {
  Value differ = LLVM::ICmpOp::create(k.b, LLVM::ICmpPredicate::ne, from, to);
  ifThen(k.b, differ, [&] {
    forVectors(k, count, width, [&](Value i, int64_t lanes) {
      Value at = k.add(begin, i);
      emitStore(k.b, bits, emitLoad(k.b, bits, from, at, lanes), to, at);
    });
  });
}

} // namespace reprise::nests
