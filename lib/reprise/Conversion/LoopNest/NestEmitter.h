// reprise: emits the kernel of one loop nest
#ifndef REPRISE_CONVERSION_LOOPNEST_NESTEMITTER_H
#define REPRISE_CONVERSION_LOOPNEST_NESTEMITTER_H

#include "Evaluator.h"
#include "reprise/Conversion/LoopNest/ContractionBlock.h"

namespace reprise::nests {

/// Emits a kernel whose work items are those of the schedule. Buffers are those of the nest.
class NestEmitter {
public:
  NestEmitter(KernelBuilder &k, const Nest &nest, const Schedule &schedule)
      : k(k), b(k.b), nest(nest), schedule(schedule), evaluator(k, nest, schedule) {}

  void emit();
  /// Emits the work of one thread of an item, for a schedule of threads. `number` is the number of
  /// the thread in its item; null if the item has one thread. `rowMemory` is the item's part of
  /// shared memory, if the schedule asks for it.
  void emitThread(mlir::Value item, mlir::Value number, mlir::Value rowMemory,
                  int64_t placeAlignment);
  /// Emits the nest for a block of a contraction alone; it must have one pass. The block's elements
  /// are of `accumulator`, and the nest's buffers are those of the kernel from `firstBuffer` on.
  void emitBlock(const ContractionBlock &block, mlir::Type accumulator, unsigned firstBuffer);

private:
  /// Emits a vector's work in its scope; gets and returns the carried values.
  /// Also gets the number of the vector, if several make one step.
  using VectorBody = llvm::function_ref<Carried(Scope &, mlir::ValueRange, int64_t)>;

  /// Single elements belong to the first item, which runs where `isFirst` holds.
  void emitSingles(Scope &kernel, mlir::Value isFirst);
  /// Runs `body` in one of the threads of an item or, if the item is part of a row, of the row.
  void ifLeader(llvm::function_ref<void()> body);
  void emitItem(mlir::Value item, Scope &kernel);
  void emitRow(Scope &row);
  /// Emits a barrier of the item's threads. Threads share out elements by vectors and reductions by
  /// lanes, so a thread reads elements that others have written.
  void meetOthers();
  void fetchRow(Scope &row);
  void emitPass(int number, Scope &row);
  void emitElements(int number, Scope &row);
  /// Columns [low, high), in steps of `count` vectors; `whole` if they are a whole number of steps
  /// in every item.
  struct Columns {
    mlir::Value low, high;
    int64_t width, count;
    bool whole;
    int pass;
    std::optional<std::pair<int64_t, int64_t>> stretch;
    /// From one vector of a step to the next; 0: they are neighbours.
    int64_t distance = 0;
  };
  /// Loops over columns by vectors, and then over a masked rest; or over a thread's share of them.
  Carried emitVectors(const Columns &columns, Scope &row, mlir::ValueRange carried,
                      VectorBody body);
  /// Loops over a thread's share of the columns, if an item has several threads.
  Carried emitShare(Columns columns, Scope &row, mlir::ValueRange carried, VectorBody body);
  /// Emits every 32nd vector from `first` on.
  Carried emitStride(const Columns &columns, int64_t first, int64_t step, Scope &row,
                     mlir::ValueRange carried, VectorBody body);
  /// Loops over columns run by run of the innermost factor; nothing is carried.
  void emitRuns(const Columns &columns, Scope &row, VectorBody body);
  void emitTogether(const Columns &columns, mlir::Value low, int64_t step, Scope &row,
                    VectorBody body);
  /// Emits one step. `left` is the number of columns that are left, a constant or a value of the
  /// kernel; null: all are left.
  Carried emitStep(const Columns &columns, mlir::Value column, mlir::Value left, Scope &row,
                   mlir::ValueRange carried, VectorBody body);
  void bindColumn(Scope &scope, mlir::Value column);
  /// Stores and keeps what a pass computes.
  void emitStores(int pass, Scope &scope);
  /// Loops over the rows of an item with their sums in registers, if a thread has one vector of
  /// columns.
  void sumRows(mlir::Value lastRow, llvm::function_ref<void(mlir::Value)> emitOne);
  /// Sets the parts of the item's block of rows to what reductions start from.
  void clearRowParts();
  /// Adds a row to the part of its block.
  void accumulateRow(StoreOp root, mlir::Value value, Scope &scope);
  mlir::Value rowPartsPosition(mlir::Value column);

  /// Reduces operands, one per reduction and then per root in lanes, over the item's columns.
  /// `operand` gives the i-th one's vector in a scope that loops over 32 columns at a time.
  void emitLaneReductions(int pass, Scope &row, llvm::function_ref<void(Scope &)> beside,
                          llvm::function_ref<mlir::Value(int, Scope &)> operand);
  void finishBlock(int pass, mlir::ValueRange lanes, mlir::Value block, Scope &row);

  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
  const Nest &nest;
  const Schedule &schedule;
  Evaluator evaluator;
  // Places of the current item.
  mlir::Value firstRow, firstColumn, lastColumn, rowNumber, rowBlock, outerNumber;
  /// Partial sums of the rows up to the current one; empty if the parts are in memory.
  Carried rowSums;
  /// Number of the thread in its item, if the item has several threads.
  mlir::Value lane;
  /// True at run time if the item is the thread's own; null: always.
  mlir::Value isOwn;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_NESTEMITTER_H
