// reprise: scatters on a GPU: updates are sorted by row, then each element of the table applies its
// updates in index order
#include "../LoopNest/AloneOps.h"
#include "ThreadAlone.h"
#include "ThreadSort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace reprise {

using namespace nests;

namespace {

class ScatterEmitter : ScatterShape {
public:
  ScatterEmitter(ThreadCommands &commands, AloneOp nest)
      : ScatterShape(nest.getOp()), commands(commands), nest(nest), lanes(vectorLanes(columns)),
        tableRows(batches * rows), allUpdates(batches * updates) {}
  void emit();

private:
  /// Stores the updates' numbers by batch, row and index; and, for each row of the tables, where
  /// its updates begin, and the end of all.
  void emitOrder();
  void emitTable();
  /// The updates of a row, as places in their order.
  std::pair<Value, Value> rangeOf(KernelBuilder &k, Value row);
  Value updateAt(KernelBuilder &k, Value place);
  void emitSum(KernelBuilder &k, Value row, Value column);
  void emitReplacement(KernelBuilder &k, Value row, Value column);

  ThreadCommands &commands;
  AloneOp nest;
  int64_t lanes, tableRows, allUpdates;
  BufferSlot order, begins;
};

/// Sorts the updates of each table by their rows.
void ScatterEmitter::emitOrder() {
  order = commands.addShared(allUpdates * numberBytes(allUpdates));
  begins = commands.addShared((tableRows + 1) * numberBytes(allUpdates));
  RowSort sort{batches, updates, updates, {nest.getBuffers()[indexBuffer()], order}, {}, {}};
  sort.key = [&](KernelBuilder &k, Value update) {
    return loadPosition(k, indexType, k.buffer(0), update, rows);
  };
  sort.store = [&](KernelBuilder &k, Value batch, Value place, Value update) {
    storeNumber(k, allUpdates, update, k.buffer(1), k.add(k.mul(batch, updates), place));
  };
  emitRowSort(commands, sort);
  sort.buffers.pop_back();
  emitKeyBegins(commands, sort, rows, order, begins);
}

std::pair<Value, Value> ScatterEmitter::rangeOf(KernelBuilder &k, Value row) {
  if (updates == 0)
    return {k.i64(0), k.i64(0)};
  Value at = k.buffer(resultBuffer() + 2);
  return {loadNumber(k, allUpdates, at, row), loadNumber(k, allUpdates, at, k.add(row, 1))};
}

Value ScatterEmitter::updateAt(KernelBuilder &k, Value place) {
  return k.mul(loadNumber(k, allUpdates, k.buffer(resultBuffer() + 1), place), columns);
}

void ScatterEmitter::emitSum(KernelBuilder &k, Value row, Value column) {
  Value sum = emitConstant(k.b, typeOfLanes(compute, lanes), 0);
  auto add = [&](Value place, ValueRange sums) -> Carried {
    Value from = k.add(updateAt(k, place), column);
    Value update = emitLoadWide(k.b, type, k.buffer(updateBuffer()), from, lanes, lanes);
    return {arith::AddFOp::create(k.b, sums[0], update)};
  };
  auto [low, high] = rangeOf(k, row);
  if (updates != 0)
    sum = forLoop(k, low, high, k.i64(1), sum, add)[0];
  emitStoreRounded(k.b, type, sum, k.buffer(resultBuffer()), k.add(k.mul(row, columns), column),
                   lanes);
}

void ScatterEmitter::emitReplacement(KernelBuilder &k, Value row, Value column) {
  Value to = k.add(k.mul(row, columns), column), result = k.buffer(resultBuffer());
  auto move = [&](Value base, Value from) {
    emitStore(k.b, type, emitLoad(k.b, type, base, from, lanes, lanes), result, to, lanes);
  };
  auto copy = [&] {
    Value table = k.buffer(0);
    Value differ = LLVM::ICmpOp::create(k.b, LLVM::ICmpPredicate::ne, table, result);
    ifThen(k.b, differ, [&] { move(table, to); });
  };
  if (updates == 0)
    return copy();
  auto [low, high] = rangeOf(k, row);
  Value isReplaced = arith::CmpIOp::create(k.b, arith::CmpIPredicate::slt, low, high);
  auto replace = [&, last = high] {
    Value from = updateAt(k, k.sub(last, k.i64(1)));
    move(k.buffer(updateBuffer()), k.add(from, column));
  };
  ifThen(k.b, isReplaced, replace, copy);
}

void ScatterEmitter::emitTable() {
  SmallVector<BufferSlot> buffers = nest.getBuffers();
  if (updates != 0)
    buffers.append({order, begins});
  int64_t vectors = columns / lanes;
  commands.add(buffers, tableRows * vectors, [&](KernelBuilder &k, Value item) {
    Value row = k.div(item, vectors), column = k.mul(k.rem(item, vectors), lanes);
    if (replaces)
      emitReplacement(k, row, column);
    else
      emitSum(k, row, column);
  });
}

void ScatterEmitter::emit() {
  if (updates != 0)
    emitOrder();
  emitTable();
}

} // namespace

static void emitScatter(ThreadCommands &commands, AloneOp nest) {
  if (!emitWarpScatter(commands, nest))
    ScatterEmitter(commands, nest).emit();
}

void emit(ScatterAddOp, ThreadCommands &commands, AloneOp nest) { emitScatter(commands, nest); }
void emit(ScatterAddAlongOp, ThreadCommands &commands, AloneOp nest) {
  emitScatter(commands, nest);
}
void emit(ScatterOp, ThreadCommands &commands, AloneOp nest) { emitScatter(commands, nest); }

} // namespace reprise
