// reprise: buffers of values, in and around loops.
#ifndef REPRISE_DIALECT_EXEC_IR_STORAGE_H
#define REPRISE_DIALECT_EXEC_IR_STORAGE_H

#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Place of a value: `offset` bytes behind the begin of the buffer of `root`. In iteration k of
/// each loop of `rows`, the value is at k times the bytes of that entry.
struct Storage {
  mlir::Value root;
  llvm::SmallVector<std::pair<LoopOp, int64_t>> rows;
  int64_t offset = 0;
  bool isPart = false; ///< whether the value is a part of a join
  bool isWhole() const { return rows.empty() && !isPart; }
};

/// Finds the storage of a value after the kernels phase. A carry has the buffer of the loop's
/// result, which holds the first value, the body's argument and the next value. A row lies in its
/// stack, a slice in its stacked operand, and a reshape that a loop slices in the reshape's
/// operand. A part of a join lies in the join's result.
Storage findStorage(mlir::Value value);

/// Visits the uses of a value and of its reshapes, which share its buffer.
void forEachReader(mlir::Value value, llvm::function_ref<void(mlir::OpOperand &)> visit);

/// Returns true if a command or a loop computes `value`, so that, in the kernels phase, its buffer
/// may be given to a loop.
bool isMade(mlir::Value value);

/// Returns a reader of a carry in its body that runs after the next value has overwritten the
/// carry; null if there is none. `mayShare(result, input)` tells whether the launch of `result` may
/// store it in the place of its operand `input`.
mlir::Operation *
findLateReader(LoopOp loop, unsigned carry,
               llvm::function_ref<bool(mlir::OpResult result, unsigned input)> mayShare);

/// Returns true if the rows that a loop stacks may overwrite its slices of a stack that no later op
/// reads: in each iteration the row is stored after its slice has been read.
bool mayTakeRows(LoopOp loop, unsigned slice, unsigned stack,
                 llvm::function_ref<bool(mlir::OpResult result, unsigned input)> mayShare);

/// Positions of commands in program order. A loop spans from before to behind its body.
class Positions {
public:
  explicit Positions(mlir::Block &block) {
    add(block);
    end = next;
  }

  /// Returns begin and end of an op; a terminator is behind all ops.
  std::pair<int64_t, int64_t> of(mlir::Operation *op) const {
    auto found = intervals.find(op);
    return found == intervals.end() ? std::make_pair(end, end) : found->second;
  }
  /// Returns the interval of all effects of `op`, as the block of `root` sees it. An op in a loop
  /// there may run at any time of the loop. A command beside stream 0 lasts until that stream has
  /// waited for it.
  std::pair<int64_t, int64_t> seenFrom(mlir::Value root, mlir::Operation *op) const;
  /// Returns the interval of `op` in commands of stream 0: a transfer begins at the position of its
  /// stream and ends at the wait for its event.
  std::pair<int64_t, int64_t> inFlight(mlir::Operation *op) const;
  /// Returns true for an op that has a position, other than a launch or a loop.
  static bool isBeside(mlir::Operation *op) { return isExplicit(op) || llvm::isa<JoinOp>(op); }
  /// Launches in program order.
  llvm::SmallVector<LaunchOp> launches;
  llvm::SmallVector<LoopOp> loops;
  /// Calls, transfers, records, waits and joins.
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
