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
  void emitItem(KernelBuilder &k, Value item);
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

void ScatterEmitter::emitItem(KernelBuilder &k, Value item) {
  ImplicitLocOpBuilder &b = k.builder();
  Value firstRow = k.mul(k.div(item, columnItems), rowsPerItem);
  Value rowCount = k.min(k.i64(rowsPerItem), k.sub(k.i64(rows), firstRow));
  Value firstColumn = k.mul(k.rem(item, columnItems), columnsPerItem);
  Value count = k.min(k.i64(columnsPerItem), k.sub(k.i64(columns), firstColumn));
  // Sums of 16-bit elements are rounded once, at the end.
  Value sums = accumulatesInScratch() ? k.workspace() : k.buffer(2);
  auto placeIn = [&](Value row, Value column) {
    if (accumulatesInScratch())
      return k.add(k.mul(row, columnsPerItem), column);
    return k.add(k.mul(k.add(firstRow, row), columns), k.add(firstColumn, column));
  };
  k.forLoop(k.i64(0), rowCount, k.i64(1), [&](Value row) {
    emitColumns(k, count, [&](Value column, int64_t lanes) {
      k.store(compute, k.constant(KernelBuilder::typeOf(compute, lanes), 0), sums,
              placeIn(row, column));
    });
  });
  k.forLoop(k.i64(0), k.i64(updates), k.i64(1), [&](Value i) {
    Value row = emitCast(b, k.load(indexType, k.buffer(0), i), b.getI64Type());
    row = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, row, k.i64(0)), k.i64(rows - 1));
    row = k.sub(row, firstRow);
    Value mine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, rowCount);
    k.ifThen(mine, [&] {
      emitColumns(k, count, [&](Value column, int64_t lanes) {
        Value from = k.add(k.mul(i, columns), k.add(firstColumn, column)),
              to = placeIn(row, column);
        Value sum = arith::AddFOp::create(b, k.load(compute, sums, to, lanes),
                                          k.loadCompute(type, k.buffer(1), from, lanes));
        k.store(compute, sum, sums, to);
      });
    });
  });
  if (!accumulatesInScratch())
    return;
  k.forLoop(k.i64(0), rowCount, k.i64(1), [&](Value row) {
    emitColumns(k, count, [&](Value column, int64_t lanes) {
      Value at = k.add(k.mul(k.add(firstRow, row), columns), k.add(firstColumn, column));
      k.storeCompute(type, k.load(compute, sums, placeIn(row, column), lanes), k.buffer(2), at);
    });
  });
}

EmittedCommand ScatterEmitter::emit(StringRef name, ModuleOp kernels) {
  KernelBuilder k(kernels, name);
  k.forLoop(k.begin(), k.end(), k.i64(1), [&](Value item) { emitItem(k, item); });
  int64_t scratch = rowsPerItem * columnsPerItem * KernelBuilder::bytesOf(compute);
  return {name.str(), items, {}, accumulatesInScratch() ? scratch : 0};
}

} // namespace

EmittedCommand emitScatter(ScatterAddOp op, StringRef name, ModuleOp kernels,
                           const CpuTarget &target) {
  return ScatterEmitter(op, target).emit(name, kernels);
}

} // namespace reprise::loops
