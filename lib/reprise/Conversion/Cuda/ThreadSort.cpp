// reprise: sorts rows on a GPU
#include "ThreadSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace reprise {

using Is = arith::CmpIPredicate;

static Value compare(KernelBuilder &k, Is predicate, Value x, Value y) {
  return arith::CmpIOp::create(k.b, predicate, x, y);
}

static Value select(KernelBuilder &k, Value condition, Value x, Value y) {
  return arith::SelectOp::create(k.b, condition, x, y);
}

//===-- Numbers -------------------------------------------------------------------------------===//

int64_t numberBytes(int64_t count) { return count <= std::numeric_limits<int32_t>::max() ? 4 : 8; }

Type numberType(KernelBuilder &k, int64_t count) {
  return k.b.getIntegerType(numberBytes(count) * 8);
}

Value loadNumber(KernelBuilder &k, int64_t count, Value base, Value index) {
  Value number = emitLoad(k.b, numberType(k, count), base, index);
  Type i64 = k.b.getI64Type();
  return number.getType() == i64 ? number : arith::ExtUIOp::create(k.b, i64, number).getResult();
}

void storeNumber(KernelBuilder &k, int64_t count, Value number, Value base, Value index) {
  Type type = numberType(k, count);
  if (type != number.getType())
    number = arith::TruncIOp::create(k.b, type, number);
  emitStore(k.b, type, number, base, index);
}

//===-- Search --------------------------------------------------------------------------------===//

Value emitBinarySearch(KernelBuilder &k, Value low, Value high, int64_t size, Value valid,
                       llvm::function_ref<Value(Value)> isBefore) {
  auto step = [&](Value, ValueRange range) -> Carried {
    Value isOpen = compare(k, Is::slt, range[0], range[1]);
    Value middle = k.div(k.add(range[0], range[1]), 2);
    Value before = isBefore(select(k, isOpen, middle, valid));
    before = arith::AndIOp::create(k.b, before, isOpen);
    return {select(k, before, k.add(middle, 1), range[0]), select(k, before, range[1], middle)};
  };
  int64_t steps = llvm::Log2_64_Ceil(size + 1);
  return forLoop(k, k.i64(0), k.i64(steps), k.i64(1), {low, high}, step)[0];
}

//===-- Sort ----------------------------------------------------------------------------------===//

namespace {

/// Limit of rows that one command sorts, by comparing every pair of elements; longer rows begin
/// with short runs. Short runs make later merges cheap.
constexpr int64_t shortRow = 256, shortRun = 32;

class SortEmitter {
public:
  SortEmitter(ThreadCommands &commands, const RowSort &sort)
      : commands(commands), sort(sort), firstRun(sort.n <= shortRow ? shortRow : shortRun) {}
  void emit();

private:
  /// Sorts runs of `firstRun`.
  void emitFirstRuns();
  /// Merges pairs of runs of `length`; their buffer is the first behind those of the sort.
  void emitMerge(int64_t length);
  void emitMergedPlace(KernelBuilder &k, int64_t length, Value row, Value run, Value offset);
  bool isLast(int64_t length) const { return length >= sort.n; }
  /// Returns the buffers of a command whose output is runs of `length`, which the next command
  /// reads.
  SmallVector<BufferSlot> buffersFor(int64_t length);
  void put(KernelBuilder &k, int64_t length, Value row, Value place, Value element);
  Value loadElement(KernelBuilder &k, Value row, Value place);
  int64_t elements() const { return sort.rows * sort.n; }

  ThreadCommands &commands;
  const RowSort &sort;
  int64_t firstRun;
  SmallVector<BufferSlot> spare;
  std::optional<BufferSlot> source;
};

SmallVector<BufferSlot> SortEmitter::buffersFor(int64_t length) {
  SmallVector<BufferSlot> buffers = sort.buffers;
  if (source)
    buffers.push_back(*source);
  std::optional<BufferSlot> read = source;
  if (!isLast(length)) {
    if (spare.empty())
      spare.push_back(commands.addShared(elements() * numberBytes(elements())));
    source = spare.pop_back_val();
    buffers.push_back(*source);
  }
  if (read)
    spare.push_back(*read);
  return buffers;
}

void SortEmitter::put(KernelBuilder &k, int64_t length, Value row, Value place, Value element) {
  if (isLast(length))
    return sort.store(k, row, place, element);
  // The output buffer follows the input of a merge.
  unsigned number = sort.buffers.size() + (length > firstRun ? 1 : 0);
  storeNumber(k, elements(), element, k.buffer(number), k.add(k.mul(row, sort.n), place));
}

Value SortEmitter::loadElement(KernelBuilder &k, Value row, Value place) {
  return loadNumber(k, elements(), k.buffer(sort.buffers.size()), k.add(k.mul(row, sort.n), place));
}

void SortEmitter::emitFirstRuns() {
  commands.add(buffersFor(firstRun), elements(), [&](KernelBuilder &k, Value element) {
    Value row = k.div(element, sort.n), index = k.rem(element, sort.n);
    Value first = k.mul(k.div(index, firstRun), firstRun);
    Value end = k.min(k.add(first, firstRun), k.i64(sort.n));
    Value key = sort.key(k, element), toRow = k.sub(element, index);
    auto count = [&](Value other, ValueRange rank) -> Carried {
      Value otherKey = sort.key(k, k.add(toRow, other));
      Value before = select(k, compare(k, Is::slt, other, index),
                            compare(k, Is::sle, otherKey, key), compare(k, Is::slt, otherKey, key));
      Value one = arith::ExtUIOp::create(k.b, k.b.getI64Type(), before);
      return {k.add(rank[0], one)};
    };
    Value rank = forLoop(k, first, end, k.i64(1), k.i64(0), count)[0];
    ifThen(k.b, compare(k, Is::slt, rank, k.i64(sort.kept)),
           [&] { put(k, firstRun, row, k.add(first, rank), element); });
  });
}

void SortEmitter::emitMergedPlace(KernelBuilder &k, int64_t length, Value row, Value run,
                                  Value offset) {
  int64_t width = std::min(length, sort.kept);
  ImplicitLocOpBuilder &b = k.b;
  Value isRight = compare(k, Is::ne, k.rem(run, 2), k.i64(0));
  Value mine = k.mul(run, length);
  Value other = select(k, isRight, k.sub(mine, k.i64(length)), k.add(mine, length));
  Value otherEnd = k.min(k.add(other, width), k.i64(sort.n));
  otherEnd = arith::MaxSIOp::create(b, otherEnd, other);
  Value place = k.add(mine, offset), element = loadElement(k, row, place);
  Value key = sort.key(k, element);
  Value before = emitBinarySearch(k, other, otherEnd, width, place, [&](Value at) {
    Value otherKey = sort.key(k, loadElement(k, row, at));
    return select(k, isRight, compare(k, Is::sle, otherKey, key),
                  compare(k, Is::slt, otherKey, key));
  });
  Value merged = k.add(offset, k.sub(before, other));
  Value base = k.min(mine, other);
  ifThen(b, compare(k, Is::slt, merged, k.i64(sort.kept)),
         [&] { put(k, 2 * length, row, k.add(base, merged), element); });
}

void SortEmitter::emitMerge(int64_t length) {
  int64_t width = std::min(length, sort.kept), runs = llvm::divideCeil(sort.n, length);
  commands.add(buffersFor(2 * length), sort.rows * runs * width, [&](KernelBuilder &k, Value item) {
    Value offset = k.rem(item, width), row = k.div(item, width * runs);
    Value run = k.rem(k.div(item, width), runs);
    Value exists = compare(k, Is::slt, k.add(k.mul(run, length), offset), k.i64(sort.n));
    ifThen(k.b, exists, [&] { emitMergedPlace(k, length, row, run, offset); });
  });
}

void SortEmitter::emit() {
  emitFirstRuns();
  for (int64_t length = firstRun; !isLast(length); length *= 2)
    emitMerge(length);
}

} // namespace

void emitRowSort(ThreadCommands &commands, const RowSort &sort) {
  SortEmitter(commands, sort).emit();
}

} // namespace reprise
