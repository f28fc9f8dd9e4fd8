// reprise: attributes of labels and plans on the ops of the graph.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_PLAN_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_PLAN_H

#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

namespace reprise {

/// Returns the label of one result: its own (a name's) or that of its op; empty without a label.
std::optional<Label> getLabel(mlir::OpResult result);
/// The rule that gave that label; empty without a label.
llvm::StringRef getRule(mlir::OpResult result);

/// Sets the label of one result only.
void setLabel(mlir::OpResult result, Label label, mlir::StringAttr rule);

/// Returns the value whose memory a reader of `value` reads, if `value` is a view in its own block;
/// otherwise null.
mlir::Value getViewed(mlir::Value value);
/// Returns true for a view with more elements than its memory, such as a broadcast.
bool repeats(mlir::Operation *view);

/// Returns true if all results of `op` are labelled to be recomputed.
bool wantsRecompute(mlir::Operation *op);

/// Returns, in words, the reason why the results of an op cannot be offloaded; empty if they can.
/// Loops will be unrolled if `unroll` is set.
llvm::StringRef findOffloadObstacle(mlir::Operation *op, bool unroll);

/// The derivative order: bit i is set if expansion i of value_and_grad made the op.
int64_t getOrder(mlir::Operation *op);
bool isPrimal(mlir::Operation *op);
bool isCotangent(mlir::Operation *op);
/// Returns true if both are primal, or cotangents, of the same derivative orders.
bool areOfOnePart(mlir::Operation *left, mlir::Operation *right);

/// Ops that are planned together, in program order, without constants and replays. Either the
/// primal part and the cotangents of one outermost value_and_grad; or the bodies of loops that pass
/// rows to each other, with a null between two bodies, since many iterations lie between them.
using Scope = mlir::SmallVector<mlir::Operation *>;
/// Returns the scopes of a function. A primal op after cotangents belongs to the next
/// value_and_grad, unless the function says that there is one scope (PlanningScopes.h). Scopes
/// inside the loops of a scope come before it.
std::vector<Scope> findScopes(mlir::FunctionOpInterface function);

/// Reads the choices that a planner has written on the ops of a scope, one per result; empty if
/// there are none. Errors, at the op: another number of choices than results, or an unknown choice.
mlir::FailureOr<std::vector<checkpoint::Choice>> readChoices(llvm::ArrayRef<mlir::Operation *> ops);

/// Leaves on the program the parts of its plan that later passes read; no plan if there are none.
void setLaterPlan(ProgramOp program, mlir::ArrayAttr executions, int64_t enoughArena);

/// The bytes of `findSavedBuffers` (SavedBuffers.h).
int64_t countSavedBytes(ProgramOp function);

/// Returns the `replayed_ops` of a function: ops with a replay number, multiplied by the iterations
/// of their loops.
int64_t countReplayedOps(ProgramOp function);

} // namespace reprise

#endif
