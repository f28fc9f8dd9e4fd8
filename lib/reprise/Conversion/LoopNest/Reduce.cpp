// reprise: emits the kernel of one loop nest: reductions over columns in the canonical order
#include "NestEmitter.h"

#include "reprise/Conversion/Emission.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise::nests {

/// The kind of reduction of an operand in lanes.
static ReductionKind laneKind(const Pass &pass, size_t number) {
  if (number < pass.reductions.size())
    return kindOf(ReduceOp(pass.reductions[number]).getFold());
  number -= pass.reductions.size();
  for (StoreOp root : pass.roots)
    if (root.getWhat() == Stored::ColumnParts && number-- == 0)
      return kindOf(*root.getFold());
  llvm_unreachable("no such operand");
}

/// The butterfly among the lanes that threads share out: four neighbours each, in a vector, or
/// those whose numbers differ by the number of threads. All threads get the result.
static Value foldThreads(KernelBuilder &k, int64_t itemThreads, ReductionKind kind,
                         ArrayRef<Value> vectors) {
  ImplicitLocOpBuilder &b = k.b;
  SmallVector<Value> own(vectors);
  auto vector = dyn_cast<VectorType>(vectors[0].getType());
  if (vector) {
    own.clear();
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      own.push_back(vector::ExtractOp::create(b, vectors[0], ArrayRef<int64_t>{i}));
  }
  // Lanes that are `distance` apart have threads that are so far apart, or the same one.
  int64_t threadStep = vector ? vector.getNumElements() : 1;
  int64_t elementStep = vector ? 1 : itemThreads;
  for (int64_t distance = reductionLanes / 2; distance >= 1; distance /= 2) {
    int64_t half = distance / elementStep;
    if (half >= 1 && half < static_cast<int64_t>(own.size())) {
      for (int64_t i = 0; i < half; ++i)
        own[i] = emitCombine(b, kind, own[i], own[i + half]);
      own.truncate(half);
      continue;
    }
    for (Value &lanes : own)
      lanes = emitCombine(b, kind, lanes, k.exchange(lanes, distance / threadStep));
  }
  return own[0];
}

/// The butterfly: lane i takes in lane i + 16, then 8, 4, 2, 1. The lanes come in one or more
/// vectors. `itemThreads` share out the lanes of an item; 0: one thread has them all.
static Value foldLanes(KernelBuilder &k, int64_t itemThreads, ReductionKind kind,
                       SmallVector<Value> vectors) {
  ImplicitLocOpBuilder &b = k.b;
  if (itemThreads)
    return foldThreads(k, itemThreads, kind, vectors);
  for (size_t half = vectors.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      vectors[i] = emitCombine(b, kind, vectors[i], vectors[i + half]);
  Value lanes = vectors[0];
  for (int64_t half = cast<VectorType>(lanes.getType()).getNumElements() / 2; half >= 1;
       half /= 2) {
    auto slice = [&](int64_t from) {
      return vector::ExtractStridedSliceOp::create(b, lanes, ArrayRef<int64_t>{from},
                                                   ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    };
    lanes = emitCombine(b, kind, slice(0), slice(half));
  }
  return vector::ExtractOp::create(b, lanes, ArrayRef<int64_t>{0});
}

/// The tree over the blocks of a row, in place in the worker's scratch.
static Value foldBlocks(KernelBuilder &k, Value base, int64_t columns, ReduceOp reduction) {
  ImplicitLocOpBuilder &b = k.b;
  ReductionKind kind = kindOf(reduction.getFold());
  Type type = getComputeType(typeOf(reduction));
  int64_t blocks = llvm::divideCeil(columns, laneBlock);
  for (int64_t distance = 1; distance < blocks; distance *= 2)
    forLoop(k, k.i64(0), k.i64(blocks - distance), k.i64(2 * distance), [&](Value left) {
      Value sum = emitCombine(b, kind, emitLoad(b, type, base, left),
                              emitLoad(b, type, base, k.add(left, distance)));
      emitStore(b, type, sum, base, left);
    });
  return emitLoad(b, type, base, k.i64(0));
}

void NestEmitter::finishBlock(int pass, ValueRange lanes, Value block, Scope &row) {
  const Pass &own = schedule.passes[pass];
  // Vector after vector, each for all reductions.
  size_t count = laneOperands(own).size();
  auto vectorsOf = [&](size_t number) {
    SmallVector<Value> vectors;
    for (size_t at = number; at < lanes.size(); at += count)
      vectors.push_back(lanes[at]);
    return vectors;
  };
  for (auto [i, given] : llvm::enumerate(own.reductions)) {
    ReduceOp reduction = given;
    Value result = foldLanes(k, lane ? schedule.itemThreads : 0, laneKind(own, i), vectorsOf(i));
    auto results = schedule.blockResults.find(reduction);
    if (results != schedule.blockResults.end())
      emitStore(b, getComputeType(typeOf(reduction)), result, evaluator.scratch(results->second),
                block);
    else
      row.nodes[reduction] = finishReduction(b, reduction.getOver(), typeOf(reduction), result);
  }
  size_t next = own.reductions.size();
  for (StoreOp root : own.roots) {
    if (root.getWhat() != Stored::ColumnParts)
      continue;
    Value result =
        foldLanes(k, lane ? schedule.itemThreads : 0, laneKind(own, next), vectorsOf(next));
    ++next;
    Value at = k.add(k.mul(block, nest.shape.rowCount()), rowNumber);
    ifLeader(
        [&] { emitStore(b, result.getType(), result, evaluator.buffer(root.getBuffer()), at); });
  }
}

/// Each lane's columns are carried by themselves, in order; those that carry nothing have none.
Carried NestEmitter::emitShare(Columns columns, Scope &row, ValueRange carried, VectorBody body) {
  int64_t together = schedule.itemThreads * columns.width;
  columns.count = 1;
  if (carried.empty())
    return emitStride(columns, 0, together, row, carried, body);
  Carried results;
  size_t count = carried.size() * together / reductionLanes;
  for (int64_t first = 0; first < reductionLanes; first += together) {
    ValueRange own = carried.slice(results.size(), count);
    llvm::append_range(results, emitStride(columns, first, reductionLanes, row, own, body));
  }
  return results;
}

Carried NestEmitter::emitStride(const Columns &columns, int64_t first, int64_t step, Scope &row,
                                ValueRange carried, VectorBody body) {
  int64_t all = nest.shape.columnCount();
  if (first >= all)
    return Carried(carried);
  Value low = k.add(k.add(columns.low, k.mul(lane, columns.width)), first);
  auto take = [&](Value column, ValueRange carried) {
    return emitStep(columns, column, Value(), row, carried, body);
  };
  if (all == first + schedule.itemThreads * columns.width)
    return take(low, carried);
  // A count that is the same for all threads has loads of shared memory unrolled.
  int64_t own = std::min(all, schedule.columnsPerItem);
  if (schedule.rowBytes && own <= laneBlock && all % own == 0 && own % step == 0)
    return forLoop(k, k.i64(0), k.i64(own / step), k.i64(1), carried,
                   [&](Value number, ValueRange carried) {
                     return take(k.add(low, k.mul(number, step)), carried);
                   });
  if (!carried.empty() || columns.pass == beforePasses ||
      schedule.passes[columns.pass].loads.empty())
    return forLoop(k, low, columns.high, k.i64(step), carried, take);
  emitTogether(columns, low, step, row, body);
  return {};
}

/// Narrow loads of elements that are stored take several steps at once.
void NestEmitter::emitTogether(const Columns &columns, Value low, int64_t step, Scope &row,
                               VectorBody body) {
  Columns together = columns;
  together.distance = step;
  together.count = columns.width == 1 ? 8 : 2;
  int64_t all = together.count * step;
  // The end of the last whole number of steps, for all threads.
  Value size = k.sub(columns.high, columns.low);
  Value end = k.add(columns.low, k.mul(k.div(size, all), all));
  forLoop(k, low, end, k.i64(all),
          [&](Value column) { emitStep(together, column, Value(), row, {}, body); });
  forLoop(k, k.add(end, k.sub(low, columns.low)), columns.high, k.i64(step),
          [&](Value column) { emitStep(columns, column, Value(), row, {}, body); });
}

/// Vectors of a pass's lanes, of each operand. `threads` share out the lanes.
static int64_t laneVectors(const Pass &pass, int64_t threads) {
  return reductionLanes / (threads * pass.laneWidth);
}

/// Returns the start values of the lanes of a pass: vector after vector, each for all operands.
static Carried laneIdentities(ImplicitLocOpBuilder &b, const Pass &pass, int64_t vectors) {
  SmallVector<Value> operands = laneOperands(pass);
  const size_t count = operands.size();
  int64_t width = pass.laneWidth;
  Carried identities;
  for (size_t i = 0; i < count * vectors; ++i) {
    Type type = getComputeType(typeOf(operands[i % count]));
    identities.push_back(emitIdentity(b, laneKind(pass, i % count), typeOfLanes(type, width)));
  }
  return identities;
}

void NestEmitter::emitLaneReductions(int pass, Scope &row, llvm::function_ref<void(Scope &)> beside,
                                     llvm::function_ref<Value(int, Scope &)> operand) {
  const Pass &own = schedule.passes[pass];
  const size_t count = laneOperands(own).size();
  int64_t width = own.laneWidth, vectors = laneVectors(own, lane ? schedule.itemThreads : 1);
  Carried identities = laneIdentities(b, own, vectors);
  auto addElements = [&](Scope &scope, ValueRange sums, int64_t vector) {
    Carried next(sums);
    for (size_t i = 0; i < count; ++i) {
      Value element = operand(i, scope), &sum = next[vector * count + i];
      // A missing element changes nothing, unlike the zero that was loaded for it.
      if (scope.width == 1 && !lane)
        element = vector::InsertOp::create(b, element, identities[i], ArrayRef<int64_t>{0});
      if (scope.mask)
        element = arith::SelectOp::create(b, scope.mask, element, identities[i]);
      sum = emitCombine(b, laneKind(own, i), sum, element);
    }
    beside(scope);
    return next;
  };
  int64_t total = nest.shape.columnCount();
  auto emitBlock = [&](Value block, Value low, Value high) {
    bool whole = total % reductionLanes == 0;
    Columns columns{low, high, width, vectors, whole, pass, std::pair(int64_t(0), total)};
    Carried lanes = emitVectors(columns, row, identities, addElements);
    finishBlock(pass, lanes, block, row);
  };
  if (schedule.columnsPerItem <= laneBlock)
    return emitBlock(k.div(firstColumn, laneBlock), firstColumn, lastColumn);
  Value firstBlock = k.div(firstColumn, laneBlock);
  Value lastBlock = k.div(k.add(lastColumn, laneBlock - 1), laneBlock);
  forLoop(k, firstBlock, lastBlock, k.i64(1), [&](Value block) {
    Value low = k.mul(block, laneBlock);
    emitBlock(block, low, k.min(k.add(low, laneBlock), lastColumn));
  });
  for (ReduceOp reduction : own.reductions) {
    Value blocks = evaluator.scratch(schedule.blockResults.find(reduction)->second);
    Value result = foldBlocks(k, blocks, total, reduction);
    row.nodes[reduction] = finishReduction(b, reduction.getOver(), typeOf(reduction), result);
  }
}

} // namespace reprise::nests
