// reprise: emits the packing of operands with several free or contracted dimensions, such as the
// windows of an image, in runs of their innermost dimension
#include "ContractionEmit.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {
namespace {

/// Offset of an index into a list of dimensions while the index increases by one. Carried values
/// are the offset and the digits of all dimensions but the first.
class Odometer {
public:
  Odometer(KernelBuilder &k, ArrayRef<FreeDim> dims) : k(k), dims(dims) {}

  Carried at(Value index) {
    Carried state = {emitOffset(k, dims, index)};
    for (size_t d = dims.size(); d-- > 1; index = k.div(index, dims[d].size))
      state.push_back(k.rem(index, dims[d].size));
    return state;
  }

  Carried next(ValueRange state) {
    if (dims.empty())
      return Carried(state);
    ImplicitLocOpBuilder &b = k.b;
    Carried after = {k.add(state[0], dims.back().stride)};
    Value carry = k.i64(1);
    for (size_t d = dims.size(); d-- > 1;) {
      Value digit = k.add(state[after.size()], carry);
      Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, digit, k.i64(dims[d].size));
      int64_t jump = dims[d - 1].stride - dims[d].size * dims[d].stride;
      after[0] = k.add(after[0], arith::SelectOp::create(b, wraps, k.i64(jump), k.i64(0)));
      carry = arith::ExtUIOp::create(b, b.getI64Type(), wraps);
      after.push_back(arith::SelectOp::create(b, wraps, k.i64(0), digit));
    }
    return after;
  }

private:
  KernelBuilder &k;
  ArrayRef<FreeDim> dims;
};

class RunPacker {
public:
  RunPacker(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
            const PackRequest &request)
      : k(k), b(k.b), plan(plan), operand(operand), request(request), free(operand.free),
        width(plan.vectorLanes), type(plan.accumulator) {
    if (!free.empty()) // a single free index is no dimension
      innermost = free.back().size;
    piece = std::min(width, innermost & -innermost);
  }

  void emit() {
    constexpr int64_t leastRun = 4; // shorter runs do not pay off as vectors
    bool wide = operand.type == type;
    if (wide && operand.lines && !operand.contracted.empty() && isRun(operand.contractedStride()) &&
        operand.contracted.back().size >= leastRun)
      return alongContracted();
    forSlivers([&] {
      if (!wide || operand.lines || !isRun(operand.freeStride()))
        oneByOne();
      else if (operand.sliver % piece == 0 && (piece >= 4 || piece == innermost))
        wholePieces();
      else
        freeRuns();
    });
  }

private:
  /// Returns whether load() and loadMasked() support the stride; a broadcast has stride 0.
  static bool isRun(int64_t stride) { return stride == 1 || stride == 2; }

  void forSlivers(llvm::function_ref<void()> body) {
    emitSlivers(k, operand, request.begin, request.end, [&](Value index, bool tail) {
      free0 = k.mul(index, operand.sliver);
      to = emitAddress(b, type, request.to,
                       k.mul(k.sub(index, request.begin), plan.sliverElements(operand)));
      used = tail ? operand.tail() : operand.sliver;
      body();
    });
  }

  void forTerms(llvm::function_ref<void(Value term, Value offset)> body) {
    Odometer odometer(k, operand.contracted);
    forLoop(k, k.i64(0), request.count, k.i64(1), odometer.at(request.k0),
            [&](Value term, ValueRange state) {
              body(term, state.front());
              return odometer.next(state);
            });
  }

  Value source(Value offset) { return emitAddress(b, operand.type, request.from, offset); }
  Value target(Value term, Value lane) {
    return emitAddress(b, type, to, k.add(k.mul(term, operand.sliver), lane));
  }

  /// Stores zeros in the last vector of each term if the sliver does not fill it; later stores
  /// overwrite the other lanes.
  void clearRest(Value term) {
    if (&operand == &plan.lanes && used % width != 0)
      emitStore(b, type, emitConstant(b, typeOfLanes(type, width), 0),
                target(term, k.i64(used / width * width)), k.i64(0));
  }

  /// Packs slivers of pieces of one size, whose addresses are known before the terms.
  void wholePieces() {
    SmallVector<Value> from;
    for (int64_t i = 0; i < used; i += piece)
      from.push_back(source(emitOffset(k, free, k.add(free0, i))));
    forTerms([&](Value term, Value offset) {
      clearRest(term);
      for (auto [i, base] : llvm::enumerate(from))
        emitStore(b, type, load(emitAddress(b, type, base, offset), operand.freeStride(), piece),
                  target(term, k.i64(i * piece)), k.i64(0));
    });
  }

  /// Packs runs of the innermost free dimension, cut at the ends of the sliver. A run is stored in
  /// whole vectors: the next run, or the next term, overwrites the excess.
  void freeRuns() {
    Value table = scratch(3 * (operand.sliver / innermost + 2));
    Value row = k.div(free0, innermost), first = k.rem(free0, innermost);
    Value runs = k.add(k.div(k.add(first, used - 1), innermost), 1);
    Type i64 = b.getI64Type();
    forLoop(k, k.i64(0), runs, k.i64(1), [&](Value run) {
      Value start = k.mul(k.add(row, run), innermost);
      Value end = k.min(k.add(start, innermost), k.add(free0, used));
      start = arith::MaxSIOp::create(b, start, free0);
      Value entry = k.mul(run, 3);
      emitStore(b, i64, emitOffset(k, free, start), table, entry);
      emitStore(b, i64, k.sub(start, free0), table, k.add(entry, 1));
      emitStore(b, i64, k.sub(end, start), table, k.add(entry, 2));
    });
    forTerms([&](Value term, Value offset) {
      clearRest(term);
      forLoop(k, k.i64(0), runs, k.i64(1), [&](Value run) {
        Value entry = k.mul(run, 3);
        Value from = source(k.add(emitLoad(b, i64, table, entry), offset));
        Value lane = target(term, emitLoad(b, i64, table, k.add(entry, 1)));
        copyRun(from, operand.freeStride(), lane, emitLoad(b, i64, table, k.add(entry, 2)),
                innermost);
      });
    });
  }

  /// Packs each free index as a line of runs of the innermost contracted dimension, cut at the ends
  /// of the terms.
  void alongContracted() {
    int64_t size = operand.contracted.back().size;
    auto forRuns = [&](llvm::function_ref<void(Value offset, Value term, Value length)> body) {
      Value row = k.div(request.k0, size), first = k.rem(request.k0, size);
      Value runs = k.div(k.add(k.add(first, request.count), size - 1), size);
      forLoop(k, k.i64(0), runs, k.i64(1), [&](Value run) {
        Value start = k.mul(k.add(row, run), size);
        Value end = k.min(k.add(start, size), k.add(request.k0, request.count));
        start = arith::MaxSIOp::create(b, start, request.k0);
        body(emitOffset(k, operand.contracted, start), k.sub(start, request.k0), k.sub(end, start));
      });
    };
    auto copyLines = [&](ArrayRef<Value> lines, Value offset, Value term, Value length) {
      for (auto [i, line] : llvm::enumerate(lines))
        copyRun(
            emitAddress(b, type, line, offset), operand.contractedStride(),
            emitAddress(b, type, to, k.add(term, static_cast<int64_t>(i) * plan.lineElements())),
            length, size);
    };
    auto addresses = [&] {
      SmallVector<Value> lines;
      for (int64_t i = 0; i < used; ++i)
        lines.push_back(source(emitOffset(k, free, k.add(free0, i))));
      return lines;
    };
    if (free.size() > 1)
      return forSlivers([&] {
        SmallVector<Value> lines = addresses();
        forRuns([&](Value offset, Value term, Value length) {
          copyLines(lines, offset, term, length);
        });
      });
    // The runs of the lines are neighbours in a filter, so we copy one run of all lines before the
    // next run.
    forRuns([&](Value offset, Value term, Value length) {
      forSlivers([&] { copyLines(addresses(), offset, term, length); });
    });
  }

  void oneByOne() {
    Value table = scratch(used);
    Type i64 = b.getI64Type();
    forLoop(k, k.i64(0), k.i64(used), k.i64(1),
            [&](Value i) { emitStore(b, i64, emitOffset(k, free, k.add(free0, i)), table, i); });
    forTerms([&](Value term, Value offset) {
      clearRest(term);
      Value from = source(offset);
      forLoop(k, k.i64(0), k.i64(used), k.i64(1), [&](Value i) {
        Value value = emitLoadWide(b, operand.type, from, emitLoad(b, i64, table, i));
        Value at = operand.lines ? k.add(k.mul(i, plan.lineElements()), term)
                                 : k.add(k.mul(term, operand.sliver), i);
        emitStore(b, type, value, to, at);
      });
    });
  }

  /// Copies `length` elements, at most `most`, `stride` apart, in whole vectors.
  void copyRun(Value from, int64_t stride, Value target, Value length, int64_t most) {
    auto copy = [&](Value at) {
      Value value =
          loadMasked(emitAddress(b, type, from, k.mul(at, stride)), stride, k.sub(length, at));
      emitStore(b, type, value, target, at);
    };
    if (most <= width)
      copy(k.i64(0));
    else
      forLoop(k, k.i64(0), length, k.i64(width), copy);
  }

  /// Loads `count` elements, 1 or 2 apart, without a read beyond the last.
  Value load(Value from, int64_t stride, int64_t count) {
    if (stride == 1 || count == 1)
      return emitLoad(b, type, from, k.i64(0), count);
    Value low = emitLoad(b, type, from, k.i64(0), count);
    Value high = emitLoad(b, type, from, k.i64(count - 1), count);
    SmallVector<int64_t> even;
    for (int64_t i = 0; i < 2 * count; i += 2)
      even.push_back(i < count ? i : i + 1);
    return vector::ShuffleOp::create(b, low, high, even);
  }

  /// A vector of the first `length` elements; the other lanes are 0.
  Value loadMasked(Value from, int64_t stride, Value length) {
    if (stride == 1)
      return loadBelow(from, k.i64(0), length);
    Value span = k.sub(k.mul(length, 2), k.i64(1));
    Value low = loadBelow(from, k.i64(0), span), high = loadBelow(from, k.i64(width), span);
    SmallVector<int64_t> even;
    for (int64_t i = 0; i < 2 * width; i += 2)
      even.push_back(i);
    return vector::ShuffleOp::create(b, low, high, even);
  }

  /// Loads elements `start`, `start` + 1, …; elements from `end` on are 0.
  Value loadBelow(Value from, Value start, Value end) {
    Type number = b.getIntegerType(type.getIntOrFloatBitWidth()); // as many lanes per register
    SmallVector<Attribute> numbers;
    for (int64_t lane = 0; lane < width; ++lane)
      numbers.push_back(b.getIntegerAttr(number, lane));
    Value lanes = arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get({width}, number), numbers));
    Value left = emitCast(b, k.sub(end, start), number);
    Value mask =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanes, emitSplat(b, left, width));
    Type vector = typeOfLanes(type, width);
    return LLVM::MaskedLoadOp::create(b, vector, emitAddress(b, type, from, start), mask,
                                      emitConstant(b, vector, 0),
                                      static_cast<uint32_t>(bytesOf(type)));
  }

  /// Numbers on the stack.
  Value scratch(int64_t count) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&k.function().getBody().front());
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::AllocaOp::create(b, pointer, b.getI64Type(), k.i64(count), 8);
  }

  KernelBuilder &k;
  ImplicitLocOpBuilder &b;
  const ContractionPlan &plan;
  const OperandPlan &operand;
  const PackRequest &request;
  ArrayRef<FreeDim> free;
  int64_t width, piece, innermost = 1; // innermost: size of the free dimension
  Type type;
  // Current sliver: its first free index, its destination, its free indices.
  Value free0, to;
  int64_t used = 0;
};

} // namespace

void emitPackRuns(KernelBuilder &k, const ContractionPlan &plan, const OperandPlan &operand,
                  const PackRequest &request) {
  RunPacker(k, plan, operand, request).emit();
}

} // namespace reprise
