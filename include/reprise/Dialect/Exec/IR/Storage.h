// reprise: which buffer holds a value, in and around loops.
#ifndef REPRISE_DIALECT_EXEC_IR_STORAGE_H
#define REPRISE_DIALECT_EXEC_IR_STORAGE_H

#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// A value lies in the buffer of `root`, in iteration k of each loop of `rows` at k times the bytes
/// that stand beside it.
struct Storage {
  mlir::Value root;
  llvm::SmallVector<std::pair<LoopOp, int64_t>> rows;
};

/// After the kernels phase. A carry has one buffer, that of the loop's result: the first value, the
/// body's argument and the next value lie there. A row lies in its stack, a slice in what it is a
/// row of, and a reshape that a loop slices in its operand.
Storage findStorage(mlir::Value value);

/// Visits the uses of a value and of reshapes of it, which lie in its place.
void forEachReader(mlir::Value value, llvm::function_ref<void(mlir::OpOperand &)> visit);

/// True if `value`, in the kernels phase, has a buffer that it may give to a loop: a command or a
/// loop made it.
bool isMade(mlir::Value value);

/// A reader of a carry in its body to which the next value, stored in the carry's place, comes too
/// early; null if there is none. `mayShare(result, input)` tells whether the launch of `result` may
/// store it in the place of its operand `input`.
mlir::Operation *
findLateReader(LoopOp loop, unsigned carry,
               llvm::function_ref<bool(mlir::OpResult result, unsigned input)> mayShare);

/// True if the rows that a loop stacks may lie where its slices of a stack lie, which nobody reads
/// later: in each iteration the row is stored when its slice has been read.
bool mayTakeRows(LoopOp loop, unsigned slice, unsigned stack,
                 llvm::function_ref<bool(mlir::OpResult result, unsigned input)> mayShare);

/// Numbers commands in program order, and loops from before to behind their bodies.
class Positions {
public:
  explicit Positions(mlir::Block &block) {
    add(block);
    end = next;
  }

  /// When the op begins and ends; a terminator is behind everything.
  std::pair<int64_t, int64_t> of(mlir::Operation *op) const {
    auto found = intervals.find(op);
    return found == intervals.end() ? std::make_pair(end, end) : found->second;
  }
  /// When anything that `op` does happens, as the block of `root` sees it: a loop there does it at
  /// any time, and what runs beside stream 0 until that stream has waited for it.
  std::pair<int64_t, int64_t> seenFrom(mlir::Value root, mlir::Operation *op) const;
  /// When `op` happens, by the commands of stream 0 between which it does: a transfer begins where
  /// its stream stands and ends where its event was waited for.
  std::pair<int64_t, int64_t> inFlight(mlir::Operation *op) const;
  /// Launches, in program order.
  llvm::SmallVector<LaunchOp> launches;
  llvm::SmallVector<LoopOp> loops;
  /// Calls, transfers, records and waits.
  llvm::SmallVector<mlir::Operation *> others;

private:
  void add(mlir::Block &block);
  int64_t findBegin(int64_t stream, mlir::Operation *op) const;
  int64_t findEnd(int64_t stream, mlir::Operation *op) const;
  int64_t findEnd(mlir::Value event) const;

  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> intervals;
  int64_t next = 0, end = 0;
};

} // namespace reprise::exec

#endif
