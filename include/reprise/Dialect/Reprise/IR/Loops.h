// reprise: what passes do to loops: rows become stacks, stacks become slices.
#ifndef REPRISE_DIALECT_REPRISE_IR_LOOPS_H
#define REPRISE_DIALECT_REPRISE_IR_LOOPS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// On views through which a loop that was split into segments reads its stacks, and hands them on.
inline constexpr llvm::StringLiteral kSplitAttr = "reprise.split";

/// The loop whose body `block` is, or null. A loop that gets another result is another op with the
/// same block, so passes hold on to blocks.
LoopOp getLoop(mlir::Block *block);

/// The tensor of one row of `stack` per iteration, as an argument of the body; one that is there
/// already is used again.
mlir::BlockArgument addSlice(LoopOp loop, mlir::Value stack);

/// The stack of all values that `row`, which the body can read, takes; one that is there already is
/// used again. Otherwise the loop is replaced by one with a result more.
mlir::OpResult addStack(mlir::Block *body, mlir::Value row);

/// What an op reads: its operands, then what its regions read from above, each value once, in the
/// order of the first use.
llvm::SmallVector<mlir::Value> collectReads(mlir::Operation *op);

/// True for constants, iota and the like, which can be made again anywhere. A loop without operands
/// may read what is above it.
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
/// The same, but `value` itself travels, whatever op it comes from.
mlir::Value stackInto(mlir::Value value, mlir::Block *block,
                      llvm::function_ref<void(mlir::Operation *)> onClone);

/// The product of the trip counts around the op; 2^63 - 1 if that is less.
int64_t countExecutions(mlir::Operation *op);

/// Drops stacks, slices and carries that nobody reads; true if there were any.
bool dropUnread(mlir::Block *body);

} // namespace reprise

#endif
