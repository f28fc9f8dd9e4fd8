// reprise: rows that many updates are combined into
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {

/// Returns the values `shift` rows further down, behind `fill`.
static Value moveDown(Builder &b, Value x, int64_t shift, int64_t fill) {
  TypedAttr with = isFloat(x) ? TypedAttr(b.getFloatAttr(elementOf(x), fill))
                              : TypedAttr(b.getIntegerAttr(elementOf(x), fill));
  Integers low(typeOf(x).getRank(), 0), high = low, none = low;
  low[0] = shift;
  high[0] = -shift;
  return pad(b, x, with, low, high, none);
}

/// Combines the values of each run of equal rows, in steps of 1, 2, 4, …: the last row of a run
/// holds the result.
static Value combineRuns(Builder &b, StringRef combiner, Value rows, Value x) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  for (int64_t shift = 1; shift < shape[0]; shift *= 2) {
    Value isSame = compare(b, ComparePredicate::eq, rows, moveDown(b, rows, shift, -1));
    isSame = broadcast(b, isSame, shape, {0});
    x = select(b, isSame, combine(b, combiner, moveDown(b, x, shift, 0), x), x);
  }
  return x;
}

Value combineRows(Builder &b, StringRef combiner, Value table, Value rows, Value updates) {
  int64_t updatesCount = typeOf(rows).getDimSize(0), count = typeOf(table).getDimSize(0);
  if (updatesCount == 0)
    return table;
  // We sort stably by rows.
  Value descending = SubOp::create(b, rows.getType(), splatInteger(b, typeOf(rows), count), rows);
  auto order = TopKOp::create(b, rows.getType(), typeOf(rows).clone(b.getI32Type()), descending)
                   .getIndices();
  rows = GatherOp::create(b, rows, order);
  Value runs = combineRuns(b, combiner, rows, GatherOp::create(b, updates, order));
  // The last update of each row, or -1.
  Value none = splatInteger(b, RankedTensorType::get({count + 1}, b.getI32Type()), -1);
  Value ends = ScatterOp::create(b, none, rows, countFrom(b, updatesCount, b.getI32Type()));
  ends = slice(b, ends, {0}, {count}, {1});
  Value isThere = compare(b, ComparePredicate::ge, ends, splatInteger(b, typeOf(ends), 0));
  isThere = broadcast(b, isThere, typeOf(table).getShape(), {0});
  Value combined = combine(b, combiner, table, GatherOp::create(b, runs, ends));
  return select(b, isThere, combined, table);
}

} // namespace reprise::stablehlo
