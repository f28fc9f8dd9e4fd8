// reprise: emits the kernel of a scatter: each item owns a block of the table and applies the
// updates of its rows in index order
#include "NestAlone.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::nests {
namespace {

class ScatterEmitter : ScatterShape {
public:
  explicit ScatterEmitter(const AloneLaunch &alone);
  EmittedCommand emit();

private:
  void chooseItems();
  /// The rows and columns of a batch's table that an item owns; the numbers of the batch's first
  /// row and first update.
  struct TableBlock {
    Value firstRow, rowCount, firstColumn, columnCount, batchRow, batchUpdate;
  };
  void emitItem(KernelBuilder &k, Value item);
  void emitBlock(KernelBuilder &k, const TableBlock &block);
  void initialize(KernelBuilder &k, const TableBlock &block);
  void applyUpdates(KernelBuilder &k, const TableBlock &block);
  void storeRounded(KernelBuilder &k, const TableBlock &block);
  /// The element of the result at a place of the block.
  Value resultAt(KernelBuilder &k, const TableBlock &block, Value row, Value column);
  /// Returns the address of a sum. Sums of 16-bit elements are in scratch, and are rounded once at
  /// the end.
  Value sumAt(KernelBuilder &k, const TableBlock &block, Value row, Value column);
  Value sums(KernelBuilder &k) { return accumulatesInScratch() ? k.workspace() : result(k); }
  void forColumns(KernelBuilder &k, const TableBlock &block,
                  llvm::function_ref<void(Value, int64_t)> body);
  bool accumulatesInScratch() const { return type != compute; }

  Value indices(KernelBuilder &k) { return k.buffer(indexBuffer()); }
  Value updateRows(KernelBuilder &k) { return k.buffer(updateBuffer()); }
  Value result(KernelBuilder &k) { return k.buffer(resultBuffer()); }

  const AloneLaunch &alone;
  int64_t width;
  int64_t batchesPerItem = 1, rowsPerItem = 1, columnsPerItem = 1;
  int64_t rowItems = 1, columnItems = 1, items = 1;
};

ScatterEmitter::ScatterEmitter(const AloneLaunch &alone) : ScatterShape(alone.op), alone(alone) {
  width = alone.target.lanes(bytesOf(compute));
  chooseItems();
}

/// Chooses the items. Every item reads all indices of its batches, so their number is limited; a
/// table with few rows is cut into columns as well.
void ScatterEmitter::chooseItems() {
  constexpr int64_t elements = 16384, mostRowItems = 64, enoughItems = 16;
  columnsPerItem = columns;
  rowsPerItem = rows;
  batchesPerItem = std::clamp<int64_t>(elements / (rows * columns), 1, batches);
  int64_t batchItems = llvm::divideCeil(batches, batchesPerItem);
  if (batchItems < enoughItems) {
    rowsPerItem = std::max<int64_t>(std::clamp<int64_t>(elements / columns, 1, rows),
                                    llvm::divideCeil(rows, mostRowItems));
    rowItems = llvm::divideCeil(rows, rowsPerItem);
    columnItems = std::clamp<int64_t>(enoughItems / rowItems, 1, llvm::divideCeil(columns, 256));
    columnsPerItem = llvm::alignTo(llvm::divideCeil(columns, columnItems), 16);
    columnItems = llvm::divideCeil(columns, columnsPerItem);
  }
  items = batchItems * rowItems * columnItems;
}

void ScatterEmitter::forColumns(KernelBuilder &k, const TableBlock &block,
                                llvm::function_ref<void(Value, int64_t)> body) {
  if (columns == 1)
    return body(k.i64(0), 1);
  forVectors(k, block.columnCount, width, body);
}

Value ScatterEmitter::resultAt(KernelBuilder &k, const TableBlock &block, Value row, Value column) {
  Value tableRow = k.add(k.add(block.batchRow, block.firstRow), row);
  return k.add(k.mul(tableRow, columns), k.add(block.firstColumn, column));
}

Value ScatterEmitter::sumAt(KernelBuilder &k, const TableBlock &block, Value row, Value column) {
  if (accumulatesInScratch())
    return k.add(k.mul(row, columnsPerItem), column);
  return resultAt(k, block, row, column);
}

void ScatterEmitter::emitItem(KernelBuilder &k, Value item) {
  TableBlock block;
  block.firstColumn = k.mul(k.rem(item, columnItems), columnsPerItem);
  block.columnCount = k.min(k.i64(columnsPerItem), k.sub(k.i64(columns), block.firstColumn));
  Value rowItem = k.div(item, columnItems);
  block.firstRow = k.mul(k.rem(rowItem, rowItems), rowsPerItem);
  block.rowCount = k.min(k.i64(rowsPerItem), k.sub(k.i64(rows), block.firstRow));
  Value firstBatch = k.mul(k.div(rowItem, rowItems), batchesPerItem);
  Value lastBatch = k.min(k.add(firstBatch, batchesPerItem), k.i64(batches));
  forLoop(k, firstBatch, lastBatch, k.i64(1), [&](Value batch) {
    block.batchRow = k.mul(batch, rows);
    block.batchUpdate = k.mul(batch, updates);
    emitBlock(k, block);
  });
}

void ScatterEmitter::emitBlock(KernelBuilder &k, const TableBlock &block) {
  initialize(k, block);
  applyUpdates(k, block);
  if (accumulatesInScratch())
    storeRounded(k, block);
}

void ScatterEmitter::initialize(KernelBuilder &k, const TableBlock &block) {
  auto fill = [&](Value row, Value count) {
    if (replaces)
      return copyUnlessSame(k, type, k.buffer(0), result(k), resultAt(k, block, row, k.i64(0)),
                            count, width);
    Value begin = sumAt(k, block, row, k.i64(0));
    forVectors(k, count, width, [&](Value i, int64_t lanes) {
      Value zero = emitConstant(k.b, typeOfLanes(compute, lanes), 0);
      emitStore(k.b, compute, zero, sums(k), k.add(begin, i));
    });
  };
  // Whole rows are contiguous.
  if (columnsPerItem == columns)
    return fill(k.i64(0), k.mul(block.rowCount, columns));
  forLoop(k, k.i64(0), block.rowCount, k.i64(1), [&](Value row) { fill(row, block.columnCount); });
}

void ScatterEmitter::applyUpdates(KernelBuilder &k, const TableBlock &block) {
  ImplicitLocOpBuilder &b = k.b;
  forLoop(k, k.i64(0), k.i64(updates), k.i64(1), [&](Value i) {
    Value number = k.add(block.batchUpdate, i);
    Value row = k.sub(loadPosition(k, indexType, indices(k), number, rows), block.firstRow);
    // The comparison is unsigned: a row before the block wraps around and is beyond its end.
    Value mine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, block.rowCount);
    ifThen(b, mine, [&] {
      forColumns(k, block, [&](Value column, int64_t lanes) {
        Value from = k.add(k.mul(number, columns), k.add(block.firstColumn, column));
        Value to = sumAt(k, block, row, column);
        Value update = emitLoadWide(b, type, updateRows(k), from, lanes);
        if (!replaces)
          update = arith::AddFOp::create(b, emitLoad(b, compute, sums(k), to, lanes), update);
        emitStore(b, compute, update, sums(k), to);
      });
    });
  });
}

void ScatterEmitter::storeRounded(KernelBuilder &k, const TableBlock &block) {
  forLoop(k, k.i64(0), block.rowCount, k.i64(1), [&](Value row) {
    forColumns(k, block, [&](Value column, int64_t lanes) {
      Value sum = emitLoad(k.b, compute, sums(k), sumAt(k, block, row, column), lanes);
      emitStoreRounded(k.b, type, sum, result(k), resultAt(k, block, row, column));
    });
  });
}

EmittedCommand ScatterEmitter::emit() {
  KernelBuilder k(alone.kernels, alone.name);
  forLoop(k, k.begin(), k.end(), k.i64(1), [&](Value item) { emitItem(k, item); });
  int64_t scratch = rowsPerItem * columnsPerItem * bytesOf(compute);
  return {alone.name.str(), items, {}, accumulatesInScratch() ? scratch : 0};
}

} // namespace

AloneCommands emit(ScatterAddOp, const AloneLaunch &alone) {
  return {ScatterEmitter(alone).emit()};
}
AloneCommands emit(ScatterAddAlongOp, const AloneLaunch &alone) {
  return {ScatterEmitter(alone).emit()};
}
AloneCommands emit(ScatterOp, const AloneLaunch &alone) { return {ScatterEmitter(alone).emit()}; }

} // namespace reprise::nests
