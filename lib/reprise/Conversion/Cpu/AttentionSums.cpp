// reprise: emits the sums of attention over keys and over queries
#include "AttentionParts.h"

using namespace mlir;

namespace reprise {

void AttentionParts::contractKeys(Value weights, const RowMatrix &right, Value i0, Value count,
                                  Value c, Value to, AttentionMask *mask) {
  Value key0 = k.mul(c, chainLength);
  Value terms = k.min(k.i64(chainLength), k.sub(k.i64(spec.keys), key0));
  if (mask)
    return contractSeenKeys(weights, right, count, key0, terms, to, *mask);
  int64_t ld = plan.ld(right.columns);
  forColumns(right.columns, [&](Value d, int64_t lanes) {
    auto rowsAt = [&](Value row, int64_t rows, Value terms, Triangle shape) {
      Value left = element(weights, k.add(k.mul(key0, plan.strip), row));
      tile({plan.compute, left, 1, plan.strip}, right, key0, terms, rows, d, lanes,
           element(to, k.mul(row, ld)), false, shape);
    };
    if (!spec.causal)
      return forTiles(k.i64(0), roundUp(count, plan.rows), 0,
                      [&](Value row, int64_t rows) { rowsAt(row, rows, terms, Triangle::None); });
    if (plan.singleChains())
      return forTiles(k.i64(0), count, spec.queries % plan.rows, [&](Value row, int64_t rows) {
        rowsAt(row, rows, visibleTo(k.add(i0, row)), Triangle::Trailing);
      });
    forTiles(k.i64(0), roundUp(count, plan.rows), 0, [&](Value row, int64_t rows) {
      Value all = compare(arith::CmpIPredicate::sge, visibleTo(k.add(i0, row)), k.add(key0, terms));
      auto singly = [&] {
        forLoop(k, row, k.add(row, rows), k.i64(1), [&](Value single) {
          Value visible = k.sub(visibleTo(k.add(i0, single)), key0);
          rowsAt(single, 1, clamp(visible, k.i64(0), terms), Triangle::None);
        });
      };
      ifThen(b, all, [&] { rowsAt(row, rows, terms, Triangle::None); }, singly);
    });
  });
}

void AttentionParts::contractSeenKeys(Value weights, const RowMatrix &right, Value count,
                                      Value key0, Value terms, Value to, AttentionMask &mask) {
  int64_t ld = plan.ld(right.columns);
  zero(to, k.mul(roundUp(count, plan.rows), ld));
  auto addKeys = [&](Value row, int64_t rows, Value lo, Value hi) {
    Value first = max(lo, key0), last = k.min(hi, k.add(key0, terms));
    Value left = element(weights, k.add(k.mul(first, plan.strip), row));
    forColumns(right.columns, [&](Value d, int64_t lanes) {
      tile({plan.compute, left, 1, plan.strip}, right, first, max(k.sub(last, first), k.i64(0)),
           rows, d, lanes, element(to, k.mul(row, ld)), true);
    });
  };
  forTiles(k.i64(0), roundUp(count, plan.rows), 0, [&](Value row, int64_t rows) {
    mask.forSeenKeys(
        row, rows, [&](Value lo, Value hi) { addKeys(row, rows, lo, hi); },
        [&](Value single, Value lo, Value hi) { addKeys(single, 1, lo, hi); });
  });
}

void AttentionParts::zero(Value to, Value count) {
  forLoop(k, k.i64(0), count, k.i64(plan.width),
          [&](Value at) { emitStore(b, plan.compute, emitConstant(b, vectorType(), 0), to, at); });
}

/// Adds slot s + 1 to slot s, for s = from, from − 1, … , `count` times.
void AttentionParts::addSlots(Value slots, int64_t elements, Value from, Value count) {
  forLoop(k, k.i64(0), count, k.i64(1), [&](Value i) {
    Value to = element(slots, k.mul(k.sub(from, i), elements));
    Value other = element(to, k.i64(elements));
    forLoop(k, k.i64(0), k.i64(elements), k.i64(plan.width), [&](Value at) {
      Value left = emitLoad(b, plan.compute, to, at, plan.width);
      Value right = emitLoad(b, plan.compute, other, at, plan.width);
      emitStore(b, plan.compute, arith::AddFOp::create(b, left, right), to, at);
    });
  });
}

void AttentionParts::forChains(int64_t terms, Value slots, int64_t elements,
                               llvm::function_ref<void(Value, Value)> chain) {
  int64_t chains = AttentionPlan::chainsOf(terms);
  if (chains == 1)
    return chain(k.i64(0), slots);
  // A binary counter of finished chains is the neighbour tree: before chain c its 1 bits are the
  // partial sums.
  forLoop(k, k.i64(0), k.i64(chains), k.i64(1), [&](Value c) {
    Value slot = math::CtPopOp::create(b, c);
    chain(c, element(slots, k.mul(slot, elements)));
    Value carries = math::CountTrailingZerosOp::create(b, k.add(c, 1));
    addSlots(slots, elements, k.sub(slot, k.i64(1)), carries);
  });
  int64_t left = llvm::popcount(static_cast<uint64_t>(chains)) - 1;
  addSlots(slots, elements, k.i64(left - 1), k.i64(left));
}

void AttentionParts::contractQueries(Value weights, const RowMatrix &right, const QueryRange &strip,
                                     Value to, AttentionMask *mask) {
  auto rowsAt = [&](Value key, int64_t rows, Value first, Value terms, Triangle shape) {
    forColumns(right.columns, [&](Value d, int64_t lanes) {
      Value left = element(weights, k.add(k.mul(key, plan.strip), first));
      tile({plan.compute, left, plan.strip, 1}, right, first, terms, rows, d, lanes,
           element(to, k.mul(key, plan.ld(right.columns))), true, shape);
    });
  };
  if (mask)
    return mask->forSeeingQueries(strip.first, strip.last,
                                  [&](Value lo, Value hi, Value first, Value last) {
                                    forTiles(lo, hi, -1, [&](Value key, int64_t rows) {
                                      rowsAt(key, rows, first, k.sub(last, first), Triangle::None);
                                    });
                                  });
  Value count = k.sub(strip.last, strip.first);
  auto whole = [&](Value key, int64_t rows) {
    rowsAt(key, rows, strip.first, count, Triangle::None);
  };
  if (!spec.causal)
    return forTiles(k.i64(0), k.i64(spec.keys), spec.keys % plan.rows, whole);
  Value limit = visibleTo(k.add(strip.i0, k.add(strip.last, -1)));
  // The entry is the query index at which the diagonal enters the strip for this key.
  auto entry = [&](Value key) { return k.sub(k.sub(key, k.i64(spec.shift())), strip.i0); };
  auto isLater = [&](Value x) { return compare(arith::CmpIPredicate::sge, x, strip.first); };
  if (!plan.singleChains())
    return forTiles(k.i64(0), limit, -1, [&](Value key, int64_t rows) {
      auto singly = [&] {
        forLoop(k, key, k.add(key, rows), k.i64(1), [&](Value single) {
          Value first = clamp(entry(single), strip.first, strip.last);
          rowsAt(single, 1, first, k.sub(strip.last, first), Triangle::None);
        });
      };
      ifThen(b, isLater(entry(k.add(key, rows - 1))), singly, [&] { whole(key, rows); });
    });
  // Tiles lie so that the diagonal enters a strip with the first row of one.
  int64_t ahead = spec.shift() % plan.rows;
  if (ahead)
    whole(k.i64(0), ahead);
  forTiles(k.i64(ahead), limit, spec.queries % plan.rows, [&](Value key, int64_t rows) {
    Value first = entry(key);
    Value common = k.sub(k.sub(count, first), k.i64(rows - 1));
    ifThen(
        b, isLater(first), [&] { rowsAt(key, rows, first, common, Triangle::Leading); },
        [&] { whole(key, rows); });
  });
}

} // namespace reprise
