// reprise: emits the packing of a contraction's operands into slivers
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

Value emitOffset(KernelBuilder &k, ArrayRef<FreeDim> dims, Value index) {
  Value offset = k.i64(0);
  for (size_t d = dims.size(); d-- > 0;) {
    Value position = d ? k.rem(index, dims[d].size) : index;
    offset = k.add(offset, k.mul(position, dims[d].stride));
    if (d)
      index = k.div(index, dims[d].size);
  }
  return offset;
}

void emitSlivers(KernelBuilder &k, const OperandPlan &operand, Value begin, Value end,
                 llvm::function_ref<void(Value sliver, bool tail)> body) {
  int64_t whole = operand.slivers() - (operand.tail() ? 1 : 0);
  if (whole)
    forLoop(k, begin, k.min(end, k.i64(whole)), k.i64(1),
            [&](Value sliver) { body(sliver, false); });
  if (!operand.tail())
    return;
  Value isLast = arith::CmpIOp::create(k.b, arith::CmpIPredicate::sgt, end, k.i64(whole));
  ifThen(k.b, isLast, [&] { body(k.i64(whole), true); });
}

namespace {

class PackEmitter {
public:
  PackEmitter(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
              const PackRequest &request)
      : k(k), b(k.b), plan(plan), operand(operand), request(request), width(plan.vectorLanes),
        sliver(operand.sliver) {}

  void emit() {
    bool wholeSliver = operand.free.size() <= 1 || operand.free.back().size % sliver == 0;
    bool wholeVector = operand.contracted.size() == 1 ||
                       (!operand.contracted.empty() && operand.contracted.back().size % width == 0);
    // Lines may be packed from terms two elements apart, which a single load cannot read.
    bool vectors = wholeVector && operand.contractedStride() == 1;
    bool several = !operand.linear() && !operand.prologue;
    if (several && operand.type == plan.accumulator && (operand.freeStride() == 1 || !vectors)) {
      emitPackRuns(k, plan, operand, request);
    } else if (operand.freeStride() == 1 && wholeSliver && !operand.lines) {
      // Line by line over all slivers, as the lines lie in memory.
      forLoop(k, k.i64(0), request.count, k.i64(1),
              [&](Value term) { forSlivers([&] { alongFree(term); }); });
    } else if (operand.lines && vectors) {
      forSlivers([&] { copyLines(); });
    } else if (vectors) {
      forSlivers([&] { alongContracted(); });
    } else if (several) {
      emitPackRuns(k, plan, operand, request);
    } else {
      forSlivers([&] { oneByOne(k.i64(0)); });
    }
  }

private:
  void forSlivers(llvm::function_ref<void()> body) {
    emitSlivers(k, operand, request.begin, request.end, [&](Value index, bool tail) {
      free0 = k.mul(index, sliver);
      to = emitAddress(b, plan.accumulator, request.to,
                       k.mul(k.sub(index, request.begin), plan.sliverElements(operand)));
      used = tail ? operand.tail() : sliver;
      padded = &operand == &plan.lanes ? llvm::alignTo(used, width) : used;
      body();
    });
  }

  /// The element of free index free0 + `i` and term k0 + `term`.
  Value source(Value i, Value term) {
    Value free = emitOffset(k, operand.free, k.add(free0, i));
    Value contracted = emitOffset(k, operand.contracted, k.add(request.k0, term));
    return emitAddress(b, operand.type, request.from, k.add(free, contracted));
  }

  Value target(Value i, Value term) {
    Value offset =
        operand.lines ? k.add(k.mul(i, plan.lineElements()), term) : k.add(k.mul(term, sliver), i);
    return emitAddress(b, plan.accumulator, to, offset);
  }

  Value load(Value i, Value term, int64_t lanes, bool alongTerms) {
    Value value = emitLoadWide(b, operand.type, source(i, term), k.i64(0), lanes);
    if (!operand.prologue)
      return value;
    return operand.prologue(
        k, {value, request.batch, k.add(free0, i), k.add(request.k0, term), alongTerms});
  }

  void store(Value value, Value i, Value term) {
    emitStore(b, plan.accumulator, value, target(i, term), k.i64(0));
  }

  /// The free dimension is contiguous: copy vectors.
  void alongFree(Value term) {
    int64_t i = 0;
    for (; i + width <= used; i += width)
      store(load(k.i64(i), term, width, false), k.i64(i), term);
    if (i < padded && padded > used)
      store(emitConstant(b, typeOfLanes(plan.accumulator, width), 0), k.i64(i), term);
    for (int64_t lanes = width / 2; lanes; lanes /= 2)
      if (used - i >= lanes) {
        store(load(k.i64(i), term, lanes, false), k.i64(i), term);
        i += lanes;
      }
  }

  /// The contracted dimension is contiguous, and remains so.
  void copyLines() {
    Value main = k.sub(request.count, k.rem(request.count, width));
    forLoop(k, k.i64(0), k.i64(used), k.i64(1), [&](Value i) {
      forLoop(k, k.i64(0), main, k.i64(width),
              [&](Value term) { store(load(i, term, width, true), i, term); });
      forLoop(k, main, request.count, k.i64(1),
              [&](Value term) { store(load(i, term, 1, true), i, term); });
    });
  }

  /// The contracted dimension is contiguous: transpose squares of one vector's width.
  void alongContracted() {
    Value rest = k.rem(request.count, width);
    Value main = k.sub(request.count, rest);
    // The hardware prefetches best if few lines at a time are read to their ends.
    auto lines = [&](Value i, int64_t count) {
      forLoop(k, k.i64(0), main, k.i64(width), [&](Value term) { square(i, term, count); });
    };
    int64_t whole = used / width * width;
    forLoop(k, k.i64(0), k.i64(whole), k.i64(width), [&](Value i) { lines(i, width); });
    if (whole < used)
      lines(k.i64(whole), used - whole);
    oneByOne(main);
  }

  void square(Value i0, Value term, int64_t count) {
    SmallVector<Value> lines;
    Type type = VectorType::get({width}, plan.accumulator);
    for (int64_t i = 0; i < width; ++i)
      lines.push_back(i < count ? load(k.add(i0, i), term, width, true) : emitConstant(b, type, 0));
    transposeSquare(k, lines);
    int64_t stored = padded > used ? width : count;
    for (int64_t j = 0; j < width; ++j) {
      Value line = lines[j];
      if (stored < width)
        line = vector::ExtractStridedSliceOp::create(
            b, line, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{stored}, ArrayRef<int64_t>{1});
      store(line, i0, k.add(term, j));
    }
  }

  void oneByOne(Value from) {
    forLoop(k, from, request.count, k.i64(1), [&](Value term) {
      forLoop(k, k.i64(0), k.i64(used), k.i64(1),
              [&](Value i) { store(load(i, term, 1, true), i, term); });
      for (int64_t i = used; i < padded; ++i)
        store(emitConstant(b, plan.accumulator, 0), k.i64(i), term);
    });
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const ContractionPlan &plan;
  const OperandPlan &operand;
  const PackRequest &request;
  int64_t width, sliver;
  // Current sliver: its first free index, its destination, its free indices, and those plus the
  // zeros after them.
  Value free0, to;
  int64_t used = 0, padded = 0;
};

} // namespace

void emitPack(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
              const PackRequest &request) {
  PackEmitter(k, plan, operand, request).emit();
}

} // namespace reprise
