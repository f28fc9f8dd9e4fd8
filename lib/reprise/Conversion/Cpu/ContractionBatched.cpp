// reprise: emits many small contractions of long sums, such as the filter gradient of a depthwise
// convolution, with the lanes along the batch
//
// A batch entry has few sums, and each sum is a chain, so that no dimension within an entry fills a
// vector. A work item computes as many entries as a vector has lanes. It copies the operands of
// each first contracted index (a sample) to the order [element][lane].
#include "ContractionEmit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace reprise {

/// Elements from the first to the last that indices reach, with strides that are not negative.
static int64_t spanOf(std::initializer_list<FreeDim> dims) {
  int64_t span = 1;
  for (FreeDim dim : dims)
    span += (dim.size - 1) * dim.stride;
  return span;
}

namespace {

struct Spans {
  explicit Spans(const ContractionSpec &spec)
      : lhs(spanOf({{spec.contracted[1].size, spec.contracted[1].lhsStride},
                    {spec.contracted[2].size, spec.contracted[2].lhsStride}})),
        rhs(spanOf({{spec.contracted[1].size, spec.contracted[1].rhsStride},
                    {spec.contracted[2].size, spec.contracted[2].rhsStride},
                    spec.columns[1],
                    spec.columns[2]})) {}
  int64_t lhs, rhs;
};

} // namespace

bool isBatched(const ContractionSpec &spec, const CpuTarget &target) {
  if (!spec.lanesAlongRows || spec.batch.size() != 1 || spec.rows.size() != 1 ||
      spec.columns.size() != 3 || spec.contracted.size() != 3 || spec.columnGroups != 1)
    return false;
  Type type = spec.accumulatorType();
  if (spec.lhsType != type || spec.rhsType != type)
    return false;
  int64_t lanes = target.lanes(bytesOf(type));
  int64_t window = spec.columns[1].size * spec.columns[2].size;
  constexpr int64_t mostPairs = 64, mostWindow = 121, mostElements = 1 << 16;
  for (const SharedDim &dim : spec.contracted)
    if (dim.size < 1 || dim.lhsStride < 0 || dim.rhsStride < 0)
      return false;
  Spans spans(spec);
  return spec.batch[0].size * 2 > lanes && window <= mostWindow &&
         spec.rows[0].size * spec.columns[0].size <= mostPairs &&
         std::min(spans.lhs, spans.rhs) >= lanes &&
         spans.rhs * spec.columns[0].size <= mostElements &&
         spans.lhs * spec.rows[0].size <= mostElements;
}

namespace {

class BatchedEmitter {
public:
  BatchedEmitter(KernelBuilder &k, const ContractionSpec &spec, const CpuTarget &target,
                 const ContractionHooks &hooks)
      : k(k), b(k.b), spec(spec), hooks(hooks), type(spec.accumulatorType()),
        width(target.lanes(bytesOf(type))), registers(target.registers()), spans(spec),
        rows(spec.rows[0].size), channels(spec.columns[0].size),
        window(spec.columns[1].size * spec.columns[2].size),
        plane(spec.contracted[1].size * spec.contracted[2].size),
        terms(spec.contracted[0].size * plane),
        chains(std::max<int64_t>(1, llvm::divideCeil(terms, chainLength))),
        rhsPanel(rows * spans.lhs * width), sums(rhsPanel + channels * spans.rhs * width) {}

  int64_t items() const { return llvm::divideCeil(spec.batch[0].size, width); }
  int64_t workerBytes() const {
    int64_t slots = static_cast<int64_t>(llvm::Log2_64(chains)) + 1;
    return (sums + (slots + 1) * slotElements()) * bytesOf(type);
  }

  void emit() {
    forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
      first = k.mul(item, width);
      forLoop(k, k.i64(0), k.i64(spec.contracted[0].size), k.i64(1), [&](Value sample) {
        const SharedDim &outer = spec.contracted[0];
        forLoop(k, k.i64(0), k.i64(rows), k.i64(1), [&](Value row) {
          Value from = k.add(k.mul(row, spec.rows[0].stride), k.mul(sample, outer.lhsStride));
          interleave(0, k.add(from, spec.lhsOffset), spec.batch[0].lhsStride, spans.lhs,
                     k.mul(row, spans.lhs * width));
        });
        forLoop(k, k.i64(0), k.i64(channels), k.i64(1), [&](Value channel) {
          Value from =
              k.add(k.mul(channel, spec.columns[0].stride), k.mul(sample, outer.rhsStride));
          interleave(1, k.add(from, spec.rhsOffset), spec.batch[0].rhsStride, spans.rhs,
                     k.add(k.mul(channel, spans.rhs * width), rhsPanel));
        });
        emitSample(sample);
      });
      int64_t left = llvm::popcount(static_cast<uint64_t>(chains)) - 1;
      addSlots(k.i64(left - 1), k.i64(left));
      store();
    });
  }

private:
  int64_t slotElements() const { return rows * channels * window * width; }
  Value workspace(Value element) { return emitAddress(b, type, k.workspace(), element); }
  Value slotAt(Value slot) { return workspace(k.add(k.mul(slot, slotElements()), sums)); }

  /// Copies `span` elements of each of the item's entries to [element][lane]. Lanes beyond the last
  /// entry repeat it.
  void interleave(unsigned buffer, Value from, int64_t stride, int64_t span, Value to) {
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < width; ++lane) {
      Value entry = k.min(k.add(first, lane), k.i64(spec.batch[0].size - 1));
      lanes.push_back(emitAddress(b, type, k.buffer(buffer), k.add(from, k.mul(entry, stride))));
    }
    auto square = [&](Value at) {
      SmallVector<Value> lines;
      for (Value lane : lanes)
        lines.push_back(emitLoad(b, type, lane, at, width));
      transposeSquare(k, lines);
      for (int64_t i = 0; i < width; ++i)
        emitStore(b, type, lines[i], workspace(k.add(to, k.mul(k.add(at, i), width))), k.i64(0));
    };
    forLoop(k, k.i64(0), k.i64(span / width * width), k.i64(width), square);
    if (span % width)
      square(k.i64(span - width));
  }

  /// Adds the terms of one sample, chain by chain.
  void emitSample(Value sample) {
    Value start = k.mul(sample, plane), end = k.add(start, plane);
    Value afterLast = k.add(k.div(k.sub(end, k.i64(1)), chainLength), 1);
    forLoop(k, k.div(start, chainLength), afterLast, k.i64(1), [&](Value chain) {
      Value chainStart = k.mul(chain, chainLength), chainEnd = k.add(chainStart, chainLength);
      Value from = arith::MaxSIOp::create(b, start, chainStart), to = k.min(end, chainEnd);
      Value opens = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, chainStart);
      Value slot = math::CtPopOp::create(b, chain);
      emitChain(slotAt(slot), opens, k.sub(from, start), k.sub(to, start));
      Value closes = arith::OrIOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, to, chainEnd),
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, to, k.i64(terms)));
      // A binary counter of finished chains is the neighbour tree, as in ContractionBlock.cpp.
      Value carries = math::CountTrailingZerosOp::create(b, k.add(chain, 1));
      carries = arith::SelectOp::create(b, closes, carries, k.i64(0));
      addSlots(k.sub(slot, k.i64(1)), carries);
    });
  }

  /// Adds terms [from, to) of a sample to the sums at `slot`, with as many window lines at a time
  /// as the registers hold.
  void emitChain(Value slot, Value opens, Value from, Value to) {
    int64_t most = std::max<int64_t>(1, (registers - 4) / spec.columns[2].size);
    forLoop(k, k.i64(0), k.i64(rows), k.i64(1), [&](Value row) {
      forLoop(k, k.i64(0), k.i64(channels), k.i64(1), [&](Value channel) {
        for (int64_t line = 0; line < spec.columns[1].size; line += most)
          emitLines(slot, opens, from, to, row, channel, line,
                    std::min(most, spec.columns[1].size - line));
      });
    });
  }

  void emitLines(Value slot, Value opens, Value from, Value to, Value row, Value channel,
                 int64_t line, int64_t count) {
    int64_t length = spec.columns[2].size, size = spec.contracted[2].size;
    Value number = k.add(k.mul(row, channels), channel);
    Value target =
        emitAddress(b, type, slot, k.mul(k.add(k.mul(number, window), line * length), width));
    Value left = workspace(k.mul(row, spans.lhs * width));
    int64_t shift = line * spec.columns[1].stride * width;
    Value right = workspace(k.add(k.mul(channel, spans.rhs * width), rhsPanel + shift));
    Carried carried;
    Value zero = emitConstant(b, typeOfLanes(type, width), 0);
    for (int64_t i = 0; i < count * length; ++i)
      carried.push_back(arith::SelectOp::create(
          b, opens, zero, emitLoad(b, type, target, k.i64(i * width), width)));
    Value lastLine = k.add(k.div(k.sub(to, k.i64(1)), size), 1);
    carried =
        forLoop(k, k.div(from, size), lastLine, k.i64(1), carried, [&](Value y, ValueRange c) {
          Value start = k.mul(y, size);
          Value x0 = k.sub(arith::MaxSIOp::create(b, from, start), start);
          Value x1 = k.min(k.sub(to, start), k.i64(size));
          return forLoop(k, x0, x1, k.i64(1), c, [&](Value x, ValueRange c) {
            return addTerm(offset(left, y, x, &SharedDim::lhsStride),
                           offset(right, y, x, &SharedDim::rhsStride), count, c);
          });
        });
    for (auto [i, sum] : llvm::enumerate(carried))
      emitStore(b, type, sum, target, k.i64(static_cast<int64_t>(i) * width));
  }

  Value offset(Value base, Value y, Value x, int64_t SharedDim::*stride) {
    Value at = k.add(k.mul(y, spec.contracted[1].*stride), k.mul(x, spec.contracted[2].*stride));
    return emitAddress(b, type, base, k.mul(at, width));
  }

  Carried addTerm(Value left, Value right, int64_t count, ValueRange carried) {
    Carried next;
    Value factor = emitLoad(b, type, left, k.i64(0), width);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t s = 0; s < spec.columns[2].size; ++s) {
        int64_t at = r * spec.columns[1].stride + s * spec.columns[2].stride;
        Value value = emitLoad(b, type, right, k.i64(at * width), width);
        next.push_back(math::FmaOp::create(b, factor, value, carried[next.size()]));
      }
    return next;
  }

  /// Adds slot s + 1 to slot s, for s = from, from − 1, … , `count` times.
  void addSlots(Value from, Value count) {
    forLoop(k, k.i64(0), count, k.i64(1), [&](Value i) {
      Value to = slotAt(k.sub(from, i));
      forLoop(k, k.i64(0), k.i64(slotElements()), k.i64(width), [&](Value at) {
        Value left = emitLoad(b, type, to, at, width);
        Value right = emitLoad(b, type, to, k.add(at, slotElements()), width);
        emitStore(b, type, arith::AddFOp::create(b, left, right), to, at);
      });
    });
  }

  /// Hands the sums of each entry over.
  void store() {
    int64_t columns = channels * window;
    Value from = slotAt(k.i64(0));
    int64_t slots = static_cast<int64_t>(llvm::Log2_64(chains)) + 1;
    Value to = slotAt(k.i64(slots));
    Value last = k.min(k.add(first, width), k.i64(spec.batch[0].size));
    forLoop(k, first, last, k.i64(1), [&](Value entry) {
      Value lane = k.sub(entry, first);
      forLoop(k, k.i64(0), k.i64(rows * columns), k.i64(1), [&](Value i) {
        emitStore(b, type, emitLoad(b, type, from, k.add(k.mul(i, width), lane)), to, i);
      });
      storeBlock(
          k, spec, hooks,
          {to, k.i64(columns), entry, k.i64(0), k.i64(rows), k.i64(0), k.i64(columns), columns});
    });
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  const ContractionHooks &hooks;
  Type type;
  int64_t width, registers;
  Spans spans;
  int64_t rows, channels, window, plane, terms, chains;
  /// Elements of the workspace: the entries' lhs, then their rhs, then slots of sums, and the sums
  /// of one entry.
  int64_t rhsPanel, sums;
  Value first;
};

} // namespace

SmallVector<KernelCommand> emitBatchedContraction(ModuleOp module, StringRef name,
                                                  const ContractionSpec &spec,
                                                  const CpuTarget &target,
                                                  const ContractionHooks &hooks) {
  KernelBuilder k(module, name);
  BatchedEmitter emitter(k, spec, target, hooks);
  emitter.emit();
  return {{name.str(), emitter.items(), 0, emitter.workerBytes()}};
}

} // namespace reprise
