// reprise: emits the kernel of a scatter-add: each item owns a block of the table and adds its rows
// in index order
#include "LoopScatter.h"

#include "reprise/Conversion/Cpu/KernelBuilder.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise::loops {
namespace {

class ScatterEmitter {
public:
  ScatterEmitter(ScatterAddOp op, const CpuTarget &target);
  EmittedCommand emit(StringRef name, ModuleOp kernels);

private:
  void chooseItems();
  /// The rows and columns of the table that an item owns.
  struct TableBlock {
    Value firstRow, rowCount, firstColumn, columnCount;
  };
  TableBlock blockOf(KernelBuilder &k, Value item);
  /// The element of the result at a place of the block.
  Value resultAt(KernelBuilder &k, const TableBlock &block, Value row, Value column);
  /// The same for the sums: those of 16-bit elements are in scratch, to be rounded once, at the
  /// end.
  Value sumAt(KernelBuilder &k, const TableBlock &block, Value row, Value column);
  Value sums(KernelBuilder &k) { return accumulatesInScratch() ? k.workspace() : k.buffer(2); }
  void emitItem(KernelBuilder &k, const TableBlock &block);
  void addUpdates(KernelBuilder &k, const TableBlock &block);
  void storeRounded(KernelBuilder &k, const TableBlock &block);
  /// Runs over columns [0, count): vectors, then single elements.
  void emitColumns(KernelBuilder &k, Value count, llvm::function_ref<void(Value, int64_t)> body);
  bool accumulatesInScratch() const { return type != compute; }

  Type type, compute, indexType;
  int64_t rows, columns, updates, width;
  int64_t rowsPerItem = 1, columnsPerItem = 1, columnItems = 1, items = 1;
};

ScatterEmitter::ScatterEmitter(ScatterAddOp op, const CpuTarget &target) {
  RankedTensorType table = op.getType();
  type = table.getElementType();
  compute = getComputeType(type);
  indexType = op.getIndices().getType().getElementType();
  rows = table.getDimSize(0);
  columns = table.getNumElements() / rows;
  updates = op.getIndices().getType().getNumElements();
  width = target.lanes(KernelBuilder::bytesOf(compute));
  chooseItems();
}

/// Every item looks at all indices, so there are not too many; a low table is cut into columns,
/// too.
void ScatterEmitter::chooseItems() {
  constexpr int64_t elements = 16384, mostRowItems = 64, enoughItems = 16;
  rowsPerItem = std::max<int64_t>(std::clamp<int64_t>(elements / columns, 1, rows),
                                  llvm::divideCeil(rows, mostRowItems));
  int64_t rowItems = llvm::divideCeil(rows, rowsPerItem);
  columnItems = std::clamp<int64_t>(enoughItems / rowItems, 1, llvm::divideCeil(columns, 256));
  columnsPerItem = llvm::alignTo(llvm::divideCeil(columns, columnItems), 16);
  columnItems = llvm::divideCeil(columns, columnsPerItem);
  items = rowItems * columnItems;
}

void ScatterEmitter::emitColumns(KernelBuilder &k, Value count,
                                 llvm::function_ref<void(Value, int64_t)> body) {
  Value whole = arith::AndIOp::create(k.builder(), count, k.i64(-width));
  k.forLoop(k.i64(0), whole, k.i64(width), [&](Value i) { body(i, width); });
  k.forLoop(whole, count, k.i64(1), [&](Value i) { body(i, 1); });
}

ScatterEmitter::TableBlock ScatterEmitter::blockOf(KernelBuilder &k, Value item) {
  Value firstRow = k.mul(k.div(item, columnItems), rowsPerItem);
  Value rowCount = k.min(k.i64(rowsPerItem), k.sub(k.i64(rows), firstRow));
  Value firstColumn = k.mul(k.rem(item, columnItems), columnsPerItem);
  Value columnCount = k.min(k.i64(columnsPerItem), k.sub(k.i64(columns), firstColumn));
  return {firstRow, rowCount, firstColumn, columnCount};
}

Value ScatterEmitter::resultAt(KernelBuilder &k, const TableBlock &block, Value row, Value column) {
  return k.add(k.mul(k.add(block.firstRow, row), columns), k.add(block.firstColumn, column));
}

Value ScatterEmitter::sumAt(KernelBuilder &k, const TableBlock &block, Value row, Value column) {
  if (accumulatesInScratch())
    return k.add(k.mul(row, columnsPerItem), column);
  return resultAt(k, block, row, column);
}

void ScatterEmitter::emitItem(KernelBuilder &k, const TableBlock &block) {
  k.forLoop(k.i64(0), block.rowCount, k.i64(1), [&](Value row) {
    emitColumns(k, block.columnCount, [&](Value column, int64_t lanes) {
      k.store(compute, k.constant(KernelBuilder::typeOf(compute, lanes), 0), sums(k),
              sumAt(k, block, row, column));
    });
  });
  addUpdates(k, block);
  if (accumulatesInScratch())
    storeRounded(k, block);
}

void ScatterEmitter::addUpdates(KernelBuilder &k, const TableBlock &block) {
  ImplicitLocOpBuilder &b = k.builder();
  k.forLoop(k.i64(0), k.i64(updates), k.i64(1), [&](Value i) {
    Value row = emitCast(b, k.load(indexType, k.buffer(0), i), b.getI64Type());
    row = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, row, k.i64(0)), k.i64(rows - 1));
    row = k.sub(row, block.firstRow);
    // As a number without sign, a row before the block is beyond its end.
    Value mine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, block.rowCount);
    k.ifThen(mine, [&] {
      emitColumns(k, block.columnCount, [&](Value column, int64_t lanes) {
        Value from = k.add(k.mul(i, columns), k.add(block.firstColumn, column));
        Value to = sumAt(k, block, row, column);
        Value sum = arith::AddFOp::create(b, k.load(compute, sums(k), to, lanes),
                                          k.loadCompute(type, k.buffer(1), from, lanes));
        k.store(compute, sum, sums(k), to);
      });
    });
  });
}

void ScatterEmitter::storeRounded(KernelBuilder &k, const TableBlock &block) {
  k.forLoop(k.i64(0), block.rowCount, k.i64(1), [&](Value row) {
    emitColumns(k, block.columnCount, [&](Value column, int64_t lanes) {
      Value sum = k.load(compute, sums(k), sumAt(k, block, row, column), lanes);
      k.storeCompute(type, sum, k.buffer(2), resultAt(k, block, row, column));
    });
  });
}

EmittedCommand ScatterEmitter::emit(StringRef name, ModuleOp kernels) {
  KernelBuilder k(kernels, name);
  k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) { emitItem(k, blockOf(k, item)); });
  int64_t scratch = rowsPerItem * columnsPerItem * KernelBuilder::bytesOf(compute);
  return {name.str(), items, {}, accumulatesInScratch() ? scratch : 0};
}

} // namespace

EmittedCommand emitScatter(ScatterAddOp op, StringRef name, ModuleOp kernels,
                           const CpuTarget &target) {
  return ScatterEmitter(op, target).emit(name, kernels);
}

} // namespace reprise::loops
