// reprise: changes of loops by passes: rows become stacks, stacks become slices.
#ifndef REPRISE_DIALECT_REPRISE_IR_LOOPS_H
#define REPRISE_DIALECT_REPRISE_IR_LOOPS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Mark of views of stacks that a loop split into segments reads and writes.
inline constexpr llvm::StringLiteral kSplitAttr = "reprise.split";

/// Returns the loop with the body `block`, or null. Passes identify a loop by its block, since a
/// loop that gets another result is a new op with the same block.
LoopOp getLoop(mlir::Block *block);

/// Returns the argument of the body that is one row of `stack` per iteration. Reuses an existing
/// argument.
mlir::BlockArgument addSlice(LoopOp loop, mlir::Value stack);

/// Returns the result of the loop that stacks the values of `row`, which the body can read. Reuses
/// an existing stack; otherwise a loop with one more result replaces this loop.
mlir::OpResult addStack(mlir::Block *body, mlir::Value row);

/// Returns the values that an op reads: its operands, then values that its regions read from above,
/// each value once, in the order of the first use.
llvm::SmallVector<mlir::Value> collectReads(mlir::Operation *op);

/// Returns true for constants, iota and similar ops, which can be cloned anywhere. Returns false
/// for loops, since a loop without operands may read values from above.
bool readsNothing(mlir::Operation *op);

/// Returns the source of the elements of a slice: the row of the same iteration in the loop that
/// stacked it, or the stack itself if no loop computed it. Returns other values unchanged.
mlir::Value findRow(mlir::Value value);

/// Makes `value` readable in `block` and returns the value to read there. Values of another loop
/// travel through a stack. Views, constants and other ops without computed operands are cloned to
/// the start of the block, and passed to `onClone`. Both places must lie in equally long loops.
mlir::Value bringInto(mlir::Value value, mlir::Block *block,
                      llvm::function_ref<void(mlir::Operation *)> onClone);
/// Makes `value` readable in `block` through a stack, even if its op could be cloned.
mlir::Value stackInto(mlir::Value value, mlir::Block *block,
                      llvm::function_ref<void(mlir::Operation *)> onClone);

/// Returns the product of the trip counts around the op, at most 2^63 - 1.
int64_t countExecutions(mlir::Operation *op);

/// Drops stacks, slices and carries without readers. Returns whether it dropped any.
bool dropUnread(mlir::Block *body);

} // namespace reprise

#endif
