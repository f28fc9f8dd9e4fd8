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
    k.forLoop(begin, k.min(end, k.i64(whole)), k.i64(1),
              [&](Value sliver) { body(sliver, false); });
  if (!operand.tail())
    return;
  Value isLast = arith::CmpIOp::create(k.builder(), arith::CmpIPredicate::sgt, end, k.i64(whole));
  k.ifThen(isLast, [&] { body(k.i64(whole), true); });
}

namespace {

class PackEmitter {
public:
  PackEmitter(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
              const PackRequest &request)
      : k(k), b(k.builder()), plan(plan), operand(operand), request(request),
        width(plan.vectorLanes), sliver(operand.sliver) {}

  void emit() {
    bool wholeSliver = operand.free.size() <= 1 || operand.free.back().size % sliver == 0;
    bool wholeVector = operand.contracted.size() == 1 ||
                       (!operand.contracted.empty() && operand.contracted.back().size % width == 0);
    bool vectors = wholeVector && operand.contractedStride() == 1;
    bool several = !operand.linear() && !operand.prologue;
    if (several && operand.type == plan.accumulator && (operand.freeStride() == 1 || !vectors)) {
      emitPackRuns(k, plan, operand, request);
    } else if (operand.freeStride() == 1 && wholeSliver && !operand.lines) {
      // Line by line over all slivers, as the lines lie in memory.
      k.forLoop(k.i64(0), request.count, k.i64(1),
                [&](Value term) { forSlivers([&] { alongFree(term); }); });
    } else if (operand.lines && wholeVector) {
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
      to = k.pointer(plan.accumulator, request.to,
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
    return k.pointer(operand.type, request.from, k.add(free, contracted));
  }

  Value target(Value i, Value term) {
    Value offset =
        operand.lines ? k.add(k.mul(i, plan.lineElements()), term) : k.add(k.mul(term, sliver), i);
    return k.pointer(plan.accumulator, to, offset);
  }

  Value load(Value i, Value term, int64_t lanes, bool alongTerms) {
    Value value = k.loadCompute(operand.type, source(i, term), k.i64(0), lanes);
    if (!operand.prologue)
      return value;
    return operand.prologue(
        k, {value, request.batch, k.add(free0, i), k.add(request.k0, term), alongTerms});
  }

  void store(Value value, Value i, Value term) {
    k.store(plan.accumulator, value, target(i, term), k.i64(0));
  }

  /// The free dimension is contiguous: copy vectors.
  void alongFree(Value term) {
    int64_t i = 0;
    for (; i + width <= used; i += width)
      store(load(k.i64(i), term, width, false), k.i64(i), term);
    if (i < padded && padded > used)
      store(k.constant(KernelBuilder::typeOf(plan.accumulator, width), 0), k.i64(i), term);
    for (int64_t lanes = width / 2; lanes; lanes /= 2)
      if (used - i >= lanes) {
        store(load(k.i64(i), term, lanes, false), k.i64(i), term);
        i += lanes;
      }
  }

  /// The contracted dimension is contiguous, and remains so.
  void copyLines() {
    Value main = k.sub(request.count, k.rem(request.count, width));
    k.forLoop(k.i64(0), k.i64(used), k.i64(1), [&](Value i) {
      k.forLoop(k.i64(0), main, k.i64(width),
                [&](Value term) { store(load(i, term, width, true), i, term); });
      k.forLoop(main, request.count, k.i64(1),
                [&](Value term) { store(load(i, term, 1, true), i, term); });
    });
  }

  /// The contracted dimension is contiguous: transpose squares of one vector's width.
  void alongContracted() {
    Value rest = k.rem(request.count, width);
    Value main = k.sub(request.count, rest);
    // Few lines at a time, each read on to its end, is what the hardware prefetches best.
    auto lines = [&](Value i, int64_t count) {
      k.forLoop(k.i64(0), main, k.i64(width), [&](Value term) { square(i, term, count); });
    };
    int64_t whole = used / width * width;
    k.forLoop(k.i64(0), k.i64(whole), k.i64(width), [&](Value i) { lines(i, width); });
    if (whole < used)
      lines(k.i64(whole), used - whole);
    oneByOne(main);
  }

  void square(Value i0, Value term, int64_t count) {
    SmallVector<Value> lines;
    Type type = VectorType::get({width}, plan.accumulator);
    for (int64_t i = 0; i < width; ++i)
      lines.push_back(i < count ? load(k.add(i0, i), term, width, true) : k.constant(type, 0));
    transpose(lines);
    int64_t stored = padded > used ? width : count;
    for (int64_t j = 0; j < width; ++j) {
      Value line = lines[j];
      if (stored < width)
        line = vector::ExtractStridedSliceOp::create(
            b, line, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{stored}, ArrayRef<int64_t>{1});
      store(line, i0, k.add(term, j));
    }
  }

  /// Pieces of `piece` elements of x and y, interleaved from the parts that start at `start` in
  /// each 2 · `piece` · `groups`.
  Value interleave(Value x, Value y, int64_t unit, int64_t piece, int64_t start) {
    SmallVector<int64_t> mask;
    for (int64_t base = 0; base < width; base += unit)
      for (int64_t at = base + start; at < base + start + unit / 2; at += piece)
        for (int64_t from : {at, at + width})
          for (int64_t j = 0; j < piece; ++j)
            mask.push_back(from + j);
    return vector::ShuffleOp::create(b, x, y, mask);
  }

  /// Transposes a square in place: first within 128 bits, by unpacking, then the 128-bit parts, so
  /// that each step is one instruction on AVX2 and AVX-512.
  void transpose(SmallVector<Value> &lines) {
    int64_t part = 16 / plan.accumulatorBytes(), parts = width / part;
    for (int64_t first = 0; first < width; first += part)
      transposeWithin(MutableArrayRef<Value>(lines).slice(first, part), part);
    // Now line (g, q) holds, in its part p, column p · part + q of the rows of group g.
    SmallVector<Value> result(width);
    for (int64_t q = 0; q < part; ++q) {
      SmallVector<Value> column;
      for (int64_t g = 0; g < parts; ++g)
        column.push_back(lines[g * part + q]);
      transposeParts(column, part);
      for (int64_t p = 0; p < parts; ++p)
        result[p * part + q] = column[p];
    }
    lines = std::move(result);
  }

  void transposeWithin(MutableArrayRef<Value> v, int64_t part) {
    if (part == 2) {
      Value low = interleave(v[0], v[1], 2, 1, 0), high = interleave(v[0], v[1], 2, 1, 1);
      v[0] = low, v[1] = high;
      return;
    }
    Value low01 = interleave(v[0], v[1], 4, 1, 0), high01 = interleave(v[0], v[1], 4, 1, 2);
    Value low23 = interleave(v[2], v[3], 4, 1, 0), high23 = interleave(v[2], v[3], 4, 1, 2);
    v[0] = interleave(low01, low23, 4, 2, 0);
    v[1] = interleave(low01, low23, 4, 2, 2);
    v[2] = interleave(high01, high23, 4, 2, 0);
    v[3] = interleave(high01, high23, 4, 2, 2);
  }

  /// Part p of line g changes places with part g of line p.
  void transposeParts(SmallVector<Value> &v, int64_t part) {
    auto pick = [&](Value x, Value y, ArrayRef<int64_t> partsOfBoth) {
      SmallVector<int64_t> mask;
      for (int64_t from : partsOfBoth)
        for (int64_t j = 0; j < part; ++j)
          mask.push_back(from * part + j);
      return vector::ShuffleOp::create(b, x, y, mask).getResult();
    };
    if (v.size() == 2) {
      v = {pick(v[0], v[1], {0, 2}), pick(v[0], v[1], {1, 3})};
      return;
    }
    Value a = pick(v[0], v[1], {0, 1, 4, 5}), c = pick(v[0], v[1], {2, 3, 6, 7});
    Value d = pick(v[2], v[3], {0, 1, 4, 5}), e = pick(v[2], v[3], {2, 3, 6, 7});
    v = {pick(a, d, {0, 2, 4, 6}), pick(a, d, {1, 3, 5, 7}), pick(c, e, {0, 2, 4, 6}),
         pick(c, e, {1, 3, 5, 7})};
  }

  void oneByOne(Value from) {
    k.forLoop(from, request.count, k.i64(1), [&](Value term) {
      k.forLoop(k.i64(0), k.i64(used), k.i64(1),
                [&](Value i) { store(load(i, term, 1, true), i, term); });
      for (int64_t i = used; i < padded; ++i)
        store(k.constant(plan.accumulator, 0), k.i64(i), term);
    });
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const ContractionPlan &plan;
  const OperandPlan &operand;
  const PackRequest &request;
  int64_t width, sliver;
  // Of the sliver at hand: its first free index, where it goes, its free indices, those and the
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
