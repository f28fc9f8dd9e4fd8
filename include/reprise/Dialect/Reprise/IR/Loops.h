// reprise: what passes do to loops: rows become stacks, stacks become slices.
#ifndef REPRISE_DIALECT_REPRISE_IR_LOOPS_H
#define REPRISE_DIALECT_REPRISE_IR_LOOPS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// On views of stacks that a loop split into segments reads and writes.
inline constexpr llvm::StringLiteral kSplitAttr = "reprise.split";

/// The loop with the body `block`, or null. A pass refers to a loop by its block: a loop that gets
/// another result is a new op with the same block.
LoopOp getLoop(mlir::Block *block);

/// The argument of the body that is one row of `stack` per iteration. An existing one is used
/// again.
mlir::BlockArgument addSlice(LoopOp loop, mlir::Value stack);

/// The result of the loop that stacks the values of `row`, which the body can read. An existing
/// stack is used again; otherwise a loop with one more result replaces this one.
mlir::OpResult addStack(mlir::Block *body, mlir::Value row);

/// What an op reads: its operands, then what its regions read from above, each value once, in the
/// order of the first use.
llvm::SmallVector<mlir::Value> collectReads(mlir::Operation *op);

/// True for constants, iota and the like, which can be made again anywhere. False for loops, since
/// a loop without operands may read values from above.
bool readsNothing(mlir::Operation *op);

/// Where the elements of a slice come from: the value of the same iteration of another loop that
/// yields it as a row of the stack, or the stack itself if no loop made it. Other values are
/// returned as they are.
mlir::Value findRow(mlir::Value value);

/// Makes `value` readable in `block` and returns what to read there: values of another loop travel
/// through a stack; views, constants and other ops without an operand that is computed are cloned
/// to the start of the block, and `onClone` is told. Both places must lie in equally long loops.
mlir::Value bringInto(mlir::Value value, mlir::Block *block,
                      llvm::function_ref<void(mlir::Operation *)> onClone);
/// The same, but `value` always travels through a stack, even if its op could be cloned.
mlir::Value stackInto(mlir::Value value, mlir::Block *block,
                      llvm::function_ref<void(mlir::Operation *)> onClone);

/// The product of the trip counts around the op, at most 2^63 - 1.
int64_t countExecutions(mlir::Operation *op);

/// Drops stacks, slices and carries without readers. Returns whether there were any.
bool dropUnread(mlir::Block *body);

} // namespace reprise

#endif
