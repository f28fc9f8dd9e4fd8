// reprise: running sums on a GPU: one thread per sum
#include "../LoopNest/AloneOps.h"
#include "ThreadAlone.h"
#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

using namespace nests;

namespace {

class CumsumEmitter : CumsumShape {
public:
  explicit CumsumEmitter(CumsumOp op) : CumsumShape(op), reverse(op.getReverse()) {
    // The elements of a row are contiguous, so a thread loads several at once.
    lanes = inner == 1 ? vectorLanes(n) : 1;
  }
  int64_t sums() const { return outer * inner; }
  void emit(KernelBuilder &k, Value item) {
    Value start = k.add(k.mul(k.div(item, inner), n * inner), k.rem(item, inner));
    auto next = [&](Value i, ValueRange sum) -> Carried {
      return {emitVector(k, start, i, sum.empty() ? Value() : sum[0])};
    };
    Carried first = next(k.i64(0), {});
    forLoop(k, k.i64(1), k.i64(n / lanes), k.i64(1), first, next);
  }

private:
  /// Vector `i` of the sum's elements. Returns the sum so far.
  Value emitVector(KernelBuilder &k, Value start, Value i, Value sum);
  Value add(KernelBuilder &k, Value sum, Value element) {
    return sum ? emitCombine(k.b, ReductionKind::Sum, sum, element) : element;
  }

  bool reverse;
  int64_t lanes;
};

Value CumsumEmitter::emitVector(KernelBuilder &k, Value start, Value i, Value sum) {
  ImplicitLocOpBuilder &b = k.b;
  Value number = reverse ? k.sub(k.i64(n / lanes - 1), i) : i;
  Value at = k.add(start, k.mul(number, lanes * inner));
  Value elements = emitLoadWide(b, type, k.buffer(0), at, lanes, lanes);
  if (lanes == 1) {
    sum = add(k, sum, elements);
    emitStoreRounded(b, type, sum, k.buffer(1), at);
    return sum;
  }
  for (int64_t j = 0; j < lanes; ++j) {
    int64_t lane = reverse ? lanes - 1 - j : j;
    sum = add(k, sum, vector::ExtractOp::create(b, elements, lane));
    elements = vector::InsertOp::create(b, sum, elements, lane);
  }
  emitStoreRounded(b, type, elements, k.buffer(1), at, lanes);
  return sum;
}

} // namespace

void emit(CumsumOp op, ThreadCommands &commands, AloneOp nest) {
  CumsumEmitter emitter(op);
  commands.add(nest.getBuffers(), emitter.sums(),
               [&](KernelBuilder &k, Value item) { emitter.emit(k, item); });
}

} // namespace reprise
