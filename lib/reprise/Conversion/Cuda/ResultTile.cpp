// reprise: the result tile of a block of threads in a contraction, and its store
#include "ResultTile.h"

#include "ContractionIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace reprise {

/// Tiles that keep a large GPU busy: each has a multiprocessor.
constexpr int64_t manyTiles = 128;
/// Rows of tiles that run at about the same time, so that they find the columns' operand in the
/// cache.
constexpr int64_t tileRowsTogether = 8;

TileExtents TileExtents::largest(const ContractionSpec &spec, int64_t most) {
  auto choose = [&](int64_t size) {
    return std::min<int64_t>(most, size >= 128 ? 128 : size >= 64 ? 64 : 32);
  };
  return {choose(countOf(spec.rows)), choose(countOf(spec.columns))};
}

int64_t TileExtents::count(const ContractionSpec &spec) const {
  return countOf(spec.batch) * llvm::divideCeil(countOf(spec.rows), rows) *
         llvm::divideCeil(countOf(spec.columns), columns);
}

void TileExtents::spread(const ContractionSpec &spec,
                         llvm::function_ref<bool(TileExtents)> canHalve) {
  while (count(spec) < manyTiles && canHalve(*this))
    (rows >= columns ? rows : columns) /= 2;
}

ResultTile::ResultTile(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
                       TileExtents extents, const TileEpilogue *given, TileOrigin origin)
    : k(k), b(k.b), spec(spec), extents(extents), offset(result.offset),
      batchDims(mergeDims(spec.batch, result.batch)), rowDims(mergeDims(spec.rows, result.rows)),
      columnDims(mergeDims(spec.columns, result.columns)),
      epilogue(given ? std::make_unique<EpilogueEmitter>(k, *given, origin) : nullptr) {}

bool ResultTile::hasNeighbours(int64_t width) const {
  auto isWhole = [&](const FreeDim &dim) { return dim.stride % width == 0; };
  return !columnDims.empty() && columnDims.back().stride == 1 &&
         columnDims.back().size % width == 0 && offset % width == 0 &&
         llvm::all_of(batchDims, isWhole) && llvm::all_of(rowDims, isWhole) &&
         llvm::all_of(ArrayRef(columnDims).drop_back(), isWhole);
}

/// Places the tile along one side. Elements that also belong to the tile before the last are
/// computed twice and stored once.
ResultTile::Range ResultTile::placeSide(Value number, int64_t count, int64_t extent) {
  Value owned = k.mul(number, extent), first = owned;
  if (count > extent && count % extent != 0)
    first = k.min(owned, k.i64(count - extent));
  return {first, owned, count, extent};
}

void ResultTile::place() {
  int64_t down = llvm::divideCeil(countOf(spec.rows), extents.rows);
  int64_t across = llvm::divideCeil(countOf(spec.columns), extents.columns);
  Value block = k.blockNumber();
  ofBatch = k.div(block, down * across);
  block = k.rem(block, down * across);
  int64_t together = tileRowsTogether * across;
  Value above = k.mul(k.div(block, together), tileRowsTogether);
  Value height = k.min(k.sub(k.i64(down), above), k.i64(tileRowsTogether));
  Value inside = k.rem(block, together);
  Value row = k.add(above, arith::RemUIOp::create(b, inside, height));
  Value column = arith::DivUIOp::create(b, inside, height);
  rows = placeSide(row, countOf(spec.rows), extents.rows);
  columns = placeSide(column, countOf(spec.columns), extents.columns);
}

void ResultTile::place(Value address) {
  auto read = [&](int64_t field) { return emitLoad(b, b.getI64Type(), address, k.i64(field)); };
  ofBatch = read(0);
  rows = {read(1), read(2), countOf(spec.rows), extents.rows};
  columns = {read(3), read(4), countOf(spec.columns), extents.columns};
}

void ResultTile::storeIfOwned(const Range &range, Value index, llvm::function_ref<void()> body) {
  if (hasWholeTiles(range))
    return body();
  bool isShort = range.count < range.extent;
  ifThen(b,
         arith::CmpIOp::create(b, isShort ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge,
                               index, isShort ? k.i64(range.count) : range.owned),
         body);
}

void ResultTile::storeRow(Value rowInTile, int64_t farther, llvm::function_ref<void(Line)> body) {
  Value first = k.add(rows.first, rowInTile), row = k.add(first, farther);
  bool isEven = rowDims.size() == 1;
  storeIfOwned(rows, row, [&] {
    if (epilogue) {
      nests::Scope scope = epilogue->enterRow(ofBatch, row);
      body({{}, 0, &scope});
      return epilogue->flush();
    }
    Value begin = k.add(k.add(locate(k, batchDims, ofBatch, strideOf), offset),
                        locate(k, rowDims, isEven ? first : row, strideOf));
    body({begin, isEven ? farther * rowDims.front().stride : 0, nullptr});
  });
}

/// Returns the place of a column. Constant distances come last, so that they become part of the
/// store instructions.
ResultTile::Value ResultTile::findColumn(Line line, Value columnInTile, int64_t farther) {
  Value column = k.add(columns.first, columnInTile);
  bool isEven = columnDims.size() == 1;
  if (!isEven)
    column = k.add(column, farther);
  Value place = emitAddress(b, spec.resultType, k.buffer(2),
                            k.add(line.begin, locate(k, columnDims, column, strideOf)));
  int64_t distance = line.farther + (isEven ? farther * columnDims.front().stride : 0);
  return emitAddress(b, spec.resultType, place, k.i64(distance));
}

/// Values that are one vector, or a single one.
void ResultTile::storeElements(Line line, Value columnInTile, int64_t farther, ValueRange values) {
  auto width = static_cast<int64_t>(values.size());
  Value column = k.add(k.add(columns.first, columnInTile), farther), value = values.front();
  storeIfOwned(columns, column, [&] {
    if (epilogue) {
      epilogue->compute(*line.scope, column, values);
      if (!hasWholeTiles(columns))
        epilogue->flush();
      return;
    }
    if (width > 1)
      value = vector::FromElementsOp::create(
          b, cast<VectorType>(typeOfLanes(spec.accumulatorType(), width)), values);
    emitStoreRounded(b, spec.resultType, value, findColumn(line, columnInTile, farther), k.i64(0),
                     /*aligned=*/width);
  });
}

void ResultTile::storeColumns(Line line, Value columnInTile, int64_t farther, ValueRange values) {
  auto width = static_cast<int64_t>(values.size());
  if (epilogue ? wantsNeighbours(width) : hasNeighbours(width))
    return storeElements(line, columnInTile, farther, values);
  for (int64_t i = 0; i < width; ++i)
    storeElements(line, columnInTile, farther + i, values[i]);
}

} // namespace reprise
