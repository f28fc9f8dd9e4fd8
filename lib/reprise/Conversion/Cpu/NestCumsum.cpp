// reprise: emits the kernel of running sums: sequential along the dimension, side by side across
// the others
#include "NestAlone.h"

#include "reprise/Conversion/Emission.h"

using namespace mlir;

namespace reprise::nests {
namespace {

class CumsumEmitter : CumsumShape {
public:
  explicit CumsumEmitter(const AloneLaunch &alone)
      : CumsumShape(cast<CumsumOp>(alone.op)), alone(alone), op(cast<CumsumOp>(alone.op)) {}
  EmittedCommand emit();

private:
  void emitRows(KernelBuilder &k, Value first, Value last);
  void emitColumns(KernelBuilder &k, Value outerNumber, Value first, Value last);
  /// Sums of vectors of `lanes`, one chain from each start; several hide the additions' latency.
  void emitChains(KernelBuilder &k, ArrayRef<Value> starts, int64_t lanes);

  const AloneLaunch &alone;
  CumsumOp op;
};

void CumsumEmitter::emitChains(KernelBuilder &k, ArrayRef<Value> starts, int64_t lanes) {
  ImplicitLocOpBuilder &b = k.b;
  auto step = [&](Value i, ValueRange sums) {
    Value along = k.mul(op.getReverse() ? k.sub(k.i64(n - 1), i) : i, inner);
    Carried next;
    for (Value start : starts)
      next.push_back(emitLoadWide(b, type, k.buffer(0), k.add(start, along), lanes));
    for (auto [sum, element] : llvm::zip(sums, next))
      element = emitCombine(b, ReductionKind::Sum, sum, element);
    for (auto [start, sum] : llvm::zip_equal(starts, next))
      emitStoreRounded(b, type, sum, k.buffer(1), k.add(start, along));
    return next;
  };
  Carried first = step(k.i64(0), {});
  forLoop(k, k.i64(1), k.i64(n), k.i64(1), first, step);
}

void CumsumEmitter::emitRows(KernelBuilder &k, Value first, Value last) {
  // More rows at once would need more ways of the cache, because rows of a power of two share its
  // sets.
  for (int64_t count : {4, 1}) {
    Value rest = k.b.createOrFold<arith::RemUIOp>(k.sub(last, first), k.i64(count));
    Value end = k.sub(last, rest);
    forLoop(k, first, end, k.i64(count), [&](Value row) {
      SmallVector<Value> starts;
      for (int64_t i = 0; i < count; ++i)
        starts.push_back(k.mul(k.add(row, i), n));
      emitChains(k, starts, 1);
    });
    first = end;
  }
}

void CumsumEmitter::emitColumns(KernelBuilder &k, Value outerNumber, Value first, Value last) {
  Value start = k.mul(outerNumber, n * inner);
  for (int64_t lanes : {32, 8, 1}) {
    Value rest = k.b.createOrFold<arith::RemUIOp>(k.sub(last, first), k.i64(lanes));
    Value end = k.sub(last, rest);
    forLoop(k, first, end, k.i64(lanes),
            [&](Value column) { emitChains(k, k.add(start, column), lanes); });
    first = end;
  }
}

EmittedCommand CumsumEmitter::emit() {
  constexpr int64_t elements = 16384;
  KernelBuilder k(alone.kernels, alone.name);
  int64_t outerPerItem = std::clamp<int64_t>(elements / (n * inner), 1, outer);
  int64_t outerItems = llvm::divideCeil(outer, outerPerItem);
  int64_t columnsPerItem = std::min<int64_t>(inner, llvm::alignTo(elements / n + 1, 32));
  int64_t columnItems = llvm::divideCeil(inner, columnsPerItem);
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value first = k.mul(k.div(item, columnItems), outerPerItem);
    Value last = k.min(k.add(first, outerPerItem), k.i64(outer));
    if (inner == 1)
      return emitRows(k, first, last);
    Value firstColumn = k.mul(k.rem(item, columnItems), columnsPerItem);
    Value lastColumn = k.min(k.add(firstColumn, columnsPerItem), k.i64(inner));
    forLoop(k, first, last, k.i64(1),
            [&](Value number) { emitColumns(k, number, firstColumn, lastColumn); });
  });
  return {alone.name.str(), outerItems * columnItems, {}, 0};
}

} // namespace

AloneCommands emit(CumsumOp, const AloneLaunch &alone) { return {CumsumEmitter(alone).emit()}; }

} // namespace reprise::nests
