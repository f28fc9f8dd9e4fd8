// reprise: emits the kernel of the largest elements of each row
#include "NestAlone.h"

#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::nests {
namespace {

/// Largest count for which a sorted list of the largest elements so far is kept, which most
/// elements do not enter. For larger counts, candidates are collected and sorted now and then.
constexpr int64_t longestList = 16;

/// Elements compare by keys: integers in the order of the elements, NaN first, zeros alike.
class TopKEmitter : TopKShape {
public:
  explicit TopKEmitter(const AloneLaunch &alone);
  EmittedCommand emit();

private:
  /// The keys of `lanes` elements from `column` of the row on.
  Value loadKeys(Value row, Value column, int64_t lanes);
  void emitRow(Value row);
  /// Passes to `body` every element except those of vectors without an element above `least`.
  /// `least` is a key in memory, valid if the i64 `filled` is not 0.
  void forCandidates(Value row, Value least, Value filled,
                     llvm::function_ref<void(Value key, Value index)> body);
  // Both functions leave the indices of the largest elements at the start of the returned memory.
  Value emitList(Value row);
  Value emitCollection(Value row);
  /// Inserts a key behind keys of the list that are not smaller; the last key drops out.
  void insertInList(Value key, Value index);
  /// Sorts the first `size` collected keys; the sort is stable.
  void sortCollection(Value size);
  /// Merges pairs of sorted runs of `length`, from `begin` on.
  void mergeRuns(Value from, Value to, Value size, Value length, Value begin);
  void storeResults(Value row, Value indices);
  Value greater(Value x, Value y) {
    return arith::CmpIOp::create(k.b, arith::CmpIPredicate::sgt, x, y);
  }

  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(k.b, condition, x, y);
  }

  Value area(int64_t bytes) {
    return emitAddress(k.b, k.b.getI8Type(), k.workspace(), k.i64(bytes));
  }

  const AloneLaunch &alone;
  KernelBuilder k;
  Type key;
  int64_t width;
  /// Elements of a collection, and where its indices begin in the workspace; keys and indices
  /// twice.
  int64_t capacity, indexBytes;
  static constexpr int64_t headBytes = 64;
};

TopKEmitter::TopKEmitter(const AloneLaunch &alone)
    : TopKShape(cast<TopKOp>(alone.op)), alone(alone), k(alone.kernels, alone.name),
      key(keyType()) {
  width = alone.target.lanes(bytesOf(key));
  // A collection of one more than the row's elements is never full: it is sorted once, at its end.
  capacity = std::min(n + 1, count + std::max<int64_t>(count, 64));
  indexBytes = headBytes + llvm::alignTo(2 * capacity * bytesOf(key), 64);
}

Value TopKEmitter::loadKeys(Value row, Value column, int64_t lanes) {
  return emitKey(k.b, emitLoadWide(k.b, type, k.buffer(0), k.add(k.mul(row, n), column), lanes));
}

void TopKEmitter::forCandidates(Value row, Value least, Value filled,
                                llvm::function_ref<void(Value key, Value index)> body) {
  auto is = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(k.b, predicate, x, y).getResult();
  };
  auto isFilled = [&] {
    return is(arith::CmpIPredicate::ne, emitLoad(k.b, k.b.getI64Type(), filled, k.i64(0)),
              k.i64(0));
  };
  forLoop(k, k.i64(0), k.i64(n), k.i64(width), [&](Value first) {
    Value end = k.min(k.add(first, width), k.i64(n));
    Value whole = is(arith::CmpIPredicate::eq, k.sub(end, first), k.i64(width));
    auto branch = scf::IfOp::create(k.b, TypeRange{k.b.getI1Type()},
                                    arith::AndIOp::create(k.b, whole, isFilled()), true);
    {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(k.b, ValueRange{arith::ConstantIntOp::create(k.b, 1, 1)});
      k.b.setInsertionPointToStart(branch.thenBlock());
      Value bound = emitSplat(k.b, emitLoad(k.b, key, least, k.i64(0)), width);
      Value enters = greater(loadKeys(row, first, width), bound);
      Value any = vector::ReductionOp::create(k.b, vector::CombiningKind::OR, enters);
      scf::YieldOp::create(k.b, any);
    }
    ifThen(k.b, branch.getResult(0), [&] {
      forLoop(k, first, end, k.i64(1), [&](Value column) {
        Value element = loadKeys(row, column, 1);
        Value out =
            arith::XOrIOp::create(k.b, greater(element, emitLoad(k.b, key, least, k.i64(0))),
                                  arith::ConstantIntOp::create(k.b, 1, 1));
        Value skip = arith::AndIOp::create(k.b, isFilled(), out);
        ifThen(k.b, skip, [] {}, [&] { body(element, column); });
      });
    });
  });
}

//===-- A list --------------------------------------------------------------------------------===//

void TopKEmitter::insertInList(Value newKey, Value newIndex) {
  Value keys = area(headBytes), indices = area(headBytes + longestList * 8);
  SmallVector<Value> oldKeys, oldIndices, smaller;
  for (int64_t i = 0; i < count; ++i) {
    oldKeys.push_back(emitLoad(k.b, key, keys, k.i64(i)));
    oldIndices.push_back(emitLoad(k.b, k.b.getI64Type(), indices, k.i64(i)));
    // Places beyond the elements so far are free.
    Value isFree = arith::CmpIOp::create(k.b, arith::CmpIPredicate::sle, newIndex, k.i64(i));
    smaller.push_back(arith::OrIOp::create(k.b, isFree, greater(newKey, oldKeys[i])));
  }
  for (int64_t i = 0; i < count; ++i) {
    Value nextKey = select(smaller[i], newKey, oldKeys[i]);
    Value nextIndex = select(smaller[i], newIndex, oldIndices[i]);
    if (i > 0) {
      nextKey = select(smaller[i - 1], oldKeys[i - 1], nextKey);
      nextIndex = select(smaller[i - 1], oldIndices[i - 1], nextIndex);
    }
    emitStore(k.b, key, nextKey, keys, k.i64(i));
    emitStore(k.b, k.b.getI64Type(), nextIndex, indices, k.i64(i));
  }
}

Value TopKEmitter::emitList(Value row) {
  Type i64 = k.b.getI64Type();
  Value least = emitAddress(k.b, key, area(headBytes), k.i64(count - 1));
  emitStore(k.b, i64, k.i64(0), area(0), k.i64(0));
  forCandidates(row, least, area(0), [&](Value key, Value index) {
    insertInList(key, index);
    Value last = arith::CmpIOp::create(k.b, arith::CmpIPredicate::sge, index, k.i64(count - 1));
    emitStore(k.b, i64, arith::ExtUIOp::create(k.b, i64, last), area(0), k.i64(0));
  });
  return area(headBytes + longestList * 8);
}

//===-- A collection --------------------------------------------------------------------------===//

void TopKEmitter::mergeRuns(Value from, Value to, Value size, Value length, Value begin) {
  Type i64 = k.b.getI64Type();
  Value keys = area(headBytes), indices = area(indexBytes);
  Value middle = k.min(k.add(begin, length), size), end = k.min(k.add(middle, length), size);
  Value last = k.i64(capacity - 1);
  forLoop(k, begin, end, k.i64(1), ValueRange{begin, middle}, [&](Value at, ValueRange heads) {
    // At least one run has elements left; the head of the other run may lie behind its end, so both
    // are clamped.
    Value left = k.add(from, k.min(heads[0], last)), right = k.add(from, k.min(heads[1], last));
    Value leftKey = emitLoad(k.b, key, keys, left), rightKey = emitLoad(k.b, key, keys, right);
    Value leftIsOver = arith::CmpIOp::create(k.b, arith::CmpIPredicate::sge, heads[0], middle);
    Value hasRight = arith::CmpIOp::create(k.b, arith::CmpIPredicate::slt, heads[1], end);
    Value rightWins = arith::OrIOp::create(k.b, leftIsOver, greater(rightKey, leftKey));
    rightWins = arith::AndIOp::create(k.b, rightWins, hasRight);
    emitStore(k.b, key, select(rightWins, rightKey, leftKey), keys, k.add(to, at));
    Value index = emitLoad(k.b, i64, indices, select(rightWins, right, left));
    emitStore(k.b, i64, index, indices, k.add(to, at));
    return Carried{select(rightWins, heads[0], k.add(heads[0], 1)),
                   select(rightWins, k.add(heads[1], 1), heads[1])};
  });
}

void TopKEmitter::sortCollection(Value size) {
  // We merge from one half of the memory to the other, an even number of times.
  int64_t passes = llvm::alignTo(llvm::Log2_64_Ceil(capacity), 2);
  forLoop(k, k.i64(0), k.i64(passes), k.i64(1), [&](Value pass) {
    Value length = arith::ShLIOp::create(k.b, k.i64(1), pass);
    Value odd = arith::AndIOp::create(k.b, pass, k.i64(1));
    Value from = k.mul(odd, capacity), to = k.sub(k.i64(capacity), from);
    forLoop(k, k.i64(0), size, k.mul(length, 2),
            [&](Value begin) { mergeRuns(from, to, size, length, begin); });
  });
}

/// The head holds whether `count` elements have been found, and the size of the collection.
Value TopKEmitter::emitCollection(Value row) {
  Type i64 = k.b.getI64Type();
  Value filled = area(0), sizeAt = area(8), keys = area(headBytes), indices = area(indexBytes);
  emitStore(k.b, i64, k.i64(0), filled, k.i64(0));
  emitStore(k.b, i64, k.i64(0), sizeAt, k.i64(0));
  // Sorting puts the smallest key that counts in its place, which no later step overwrites.
  Value least = emitAddress(k.b, key, keys, k.i64(count - 1));
  forCandidates(row, least, filled, [&](Value element, Value column) {
    Value size = emitLoad(k.b, i64, sizeAt, k.i64(0));
    emitStore(k.b, key, element, keys, size);
    emitStore(k.b, i64, column, indices, size);
    size = k.add(size, 1);
    emitStore(k.b, i64, size, sizeAt, k.i64(0));
    ifThen(k.b, arith::CmpIOp::create(k.b, arith::CmpIPredicate::eq, size, k.i64(capacity)), [&] {
      sortCollection(size);
      emitStore(k.b, i64, k.i64(count), sizeAt, k.i64(0));
      emitStore(k.b, i64, k.i64(1), filled, k.i64(0));
    });
  });
  sortCollection(emitLoad(k.b, i64, sizeAt, k.i64(0)));
  return indices;
}

//===-- Rows ----------------------------------------------------------------------------------===//

void TopKEmitter::storeResults(Value row, Value indices) {
  Type bits = bitsTypeOf(type), i64 = k.b.getI64Type();
  forLoop(k, k.i64(0), k.i64(count), k.i64(1), [&](Value i) {
    Value index = emitLoad(k.b, i64, indices, i), to = k.add(k.mul(row, count), i);
    unsigned buffer = 1;
    if (alone.stored[0]) {
      Value value = emitLoad(k.b, bits, k.buffer(0), k.add(k.mul(row, n), index));
      emitStore(k.b, bits, value, k.buffer(buffer++), to);
    }
    if (alone.stored[1])
      emitStore(k.b, indexType, emitCast(k.b, index, indexType), k.buffer(buffer), to);
  });
}

void TopKEmitter::emitRow(Value row) {
  storeResults(row, count <= longestList ? emitList(row) : emitCollection(row));
}

EmittedCommand TopKEmitter::emit() {
  int64_t rowsPerItem = std::clamp<int64_t>(16384 / n, 1, rows);
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) {
    Value first = k.mul(item, rowsPerItem);
    forLoop(k, first, k.min(k.add(first, rowsPerItem), k.i64(rows)), k.i64(1),
            [&](Value row) { emitRow(row); });
  });
  int64_t scratch =
      count <= longestList ? headBytes + longestList * 16 : indexBytes + capacity * 16;
  int64_t items = llvm::divideCeil(rows, rowsPerItem);
  return {alone.name.str(), items, {}, static_cast<int64_t>(llvm::alignTo(scratch, 64))};
}

} // namespace

AloneCommands emit(TopKOp, const AloneLaunch &alone) { return {TopKEmitter(alone).emit()}; }

} // namespace reprise::nests
