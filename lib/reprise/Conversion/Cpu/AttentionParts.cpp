// reprise: emits the common parts of the kernels of attention and of its backward
#include "AttentionParts.h"

using namespace mlir;

namespace reprise {

Type AttentionParts::indexType() {
  Type integer = b.getIntegerType(plan.compute.getIntOrFloatBitWidth());
  return typeOfLanes(integer, plan.width);
}

void AttentionParts::copyRow(Value from, const AttentionStrides &strides, Value to) {
  int64_t width = plan.width, columns = strides.columns;
  int64_t whole = strides.depth == 1 ? columns / width * width : 0;
  auto copy = [&](int64_t lo, int64_t hi, int64_t step) {
    if (lo == hi)
      return;
    forLoop(k, k.i64(lo), k.i64(hi), k.i64(step), [&](Value d) {
      Value at = k.mul(d, strides.depth);
      emitStore(b, plan.compute, emitLoadWide(b, spec.type, from, at, step), to, d);
    });
  };
  copy(0, whole, width);
  copy(whole, columns, 1);
  for (int64_t d = columns; d < plan.ld(columns); ++d)
    emitStore(b, plan.compute, emitConstant(b, plan.compute, 0), to, k.i64(d));
}

RowMatrix AttentionParts::rowsFor(Value from, const AttentionStrides &strides, Value count,
                                  Value to, bool direct) {
  int64_t columns = strides.columns, ld = plan.ld(columns);
  if (direct)
    return {spec.type, from, strides.row, columns, true};
  forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
    copyRow(emitAddress(b, spec.type, from, k.mul(row, strides.row)), strides,
            element(to, k.mul(row, ld)));
  });
  return {plan.compute, to, ld, columns, false};
}

void AttentionParts::packQueries(Value from, const AttentionStrides &strides, Value i0, Value count,
                                 Value to) {
  ContractionPlan packing = plan.packingOf(strides.columns);
  packing.lanes.free = {{spec.queries, strides.row}};
  packing.lanes.contracted = {{strides.columns, strides.depth}};
  Value begin = k.div(i0, plan.lanes);
  Value end = k.div(k.add(k.add(i0, count), plan.lanes - 1), plan.lanes);
  emitPack(k, packing, packing.lanes,
           {from, to, k.i64(0), begin, end, k.i64(0), k.i64(strides.columns)});
}

void AttentionParts::products(const RowMatrix &rows, Value packed, Value column, Value lo, Value hi,
                              Value key0, Value to) {
  int64_t count = plan.scoreRows;
  forLoop(k, lo, hi, k.i64(count), [&](Value j) {
    // The last tile ends with the last key and overlaps the tile before; the elements that it
    // computes again are equal.
    Value row = k.min(j, k.i64(spec.keys - count));
    TileRequest tile;
    tile.lhs = {rows.type, emitAddress(b, rows.type, rows.base, k.mul(row, rows.rowStride)),
                rows.rowStride, 1};
    tile.rhs = {plan.compute, packed, 1, plan.lanes};
    tile.rows = count;
    tile.lanes = plan.lanes;
    tile.maskRhs = false;
    tile.count = k.i64(rows.columns);
    tile.to = element(to, k.add(k.mul(k.sub(row, key0), plan.strip), column));
    tile.ld = plan.strip;
    emitTile(k, plan.tiles, tile);
  });
}

void AttentionParts::forTiles(Value lo, Value hi, int64_t tail,
                              llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = k.add(lo, roundDown(k.sub(hi, lo), plan.rows));
  forLoop(k, lo, whole, k.i64(plan.rows), [&](Value row) { body(row, plan.rows); });
  if (tail < 0)
    forLoop(k, whole, hi, k.i64(1), [&](Value row) { body(row, 1); });
  if (tail <= 0)
    return;
  Value left = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, whole, hi);
  ifThen(b, left, [&] { body(whole, tail); });
}

void AttentionParts::forColumns(int64_t columns, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t lanes = plan.columnLanes(columns), tail = columns % lanes, whole = columns - tail;
  if (whole)
    forLoop(k, k.i64(0), k.i64(whole), k.i64(lanes), [&](Value d) { body(d, lanes); });
  if (tail)
    body(k.i64(whole), tail);
}

void AttentionParts::tile(TileOperand left, const RowMatrix &right, Value firstTerm, Value count,
                          int64_t rows, Value d, int64_t lanes, Value to, bool resume,
                          Triangle triangle) {
  TileRequest tile;
  tile.lhs = left;
  Value at = k.add(k.mul(firstTerm, right.rowStride), d);
  tile.rhs = {right.type, emitAddress(b, right.type, right.base, at), 1, right.rowStride};
  tile.rows = rows;
  tile.lanes = lanes;
  tile.maskRhs = right.masked;
  tile.count = count;
  tile.to = element(to, d);
  tile.ld = plan.ld(right.columns);
  tile.resume = resume;
  tile.triangle = triangle;
  emitTile(k, plan.tiles, tile);
}

void AttentionParts::storeRows(Value from, Value count, int64_t columns, Value to,
                               llvm::function_ref<Value(Value, Value)> map) {
  int64_t whole = columns / plan.width * plan.width;
  forLoop(k, k.i64(0), count, k.i64(1), [&](Value row) {
    Value source = element(from, k.mul(row, plan.ld(columns)));
    Value target = emitAddress(b, spec.type, to, k.mul(row, columns));
    auto copy = [&](int64_t lo, int64_t hi, int64_t step) {
      if (lo < hi)
        forLoop(k, k.i64(lo), k.i64(hi), k.i64(step), [&](Value d) {
          Value value = emitLoad(b, plan.compute, source, d, step);
          emitStoreRounded(b, spec.type, map(value, row), target, d);
        });
    };
    copy(0, whole, plan.width);
    copy(whole, columns, 1);
  });
}

} // namespace reprise
