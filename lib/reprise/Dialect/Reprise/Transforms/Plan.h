// reprise: how labels and the plan are written on the ops of the graph.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_PLAN_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_PLAN_H

#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

namespace reprise {

/// The label of one result: its own (a name's) or that of its op; empty without a label.
std::optional<Label> getLabel(mlir::OpResult result);
/// The rule that gave that label; empty without a label.
llvm::StringRef getRule(mlir::OpResult result);

/// Gives one result a label, which the other results of its op do not get.
void setLabel(mlir::OpResult result, Label label, mlir::StringAttr rule);

/// The value whose memory a reader of `value` reads, if a view of its own block makes `value`;
/// otherwise null.
mlir::Value getViewed(mlir::Value value);
/// True for a view with more elements than there are in memory, such as a broadcast.
bool repeats(mlir::Operation *view);

/// True if all results of `op` are labelled to be recomputed.
bool wantsRecompute(mlir::Operation *op);

/// What keeps the results of an op from being offloaded, in words; empty for nothing. Loops will be
/// unrolled if `unroll` is set.
llvm::StringRef findOffloadObstacle(mlir::Operation *op, bool unroll);

/// The derivative order: bit i is set if expansion i of value_and_grad made the op.
int64_t getOrder(mlir::Operation *op);
bool isPrimal(mlir::Operation *op);
bool isCotangent(mlir::Operation *op);
/// True if both are primal, or cotangents, of the same derivative orders.
bool areOfOnePart(mlir::Operation *left, mlir::Operation *right);

/// What is planned together, in program order, without constants and replays: the primal part and
/// the cotangents of one outermost value_and_grad; or the bodies of loops that hand rows to each
/// other, with a null between two bodies, since many iterations lie between them.
using Scope = mlir::SmallVector<mlir::Operation *>;
/// A primal op after cotangents belongs to the next value_and_grad, unless the function says that
/// there is one scope (PlanningScopes.h). Scopes inside the loops of a
/// scope come before it.
std::vector<Scope> findScopes(mlir::FunctionOpInterface function);

/// The choices that a planner has written on the ops of a scope, one per result; empty if there are
/// none. Errors, at the op: not one per result, or unknown.
mlir::FailureOr<std::vector<checkpoint::Choice>> readChoices(llvm::ArrayRef<mlir::Operation *> ops);

/// Leaves on the program the parts of its plan that later passes read; no plan if there are none.
void setLaterPlan(ProgramOp program, mlir::ArrayAttr executions, int64_t enoughArena);

/// The bytes of `findSavedBuffers` (SavedBuffers.h).
int64_t countSavedBytes(ProgramOp function);

/// The `replayed_ops` of a function: ops with a replay number, each as often as its loops run it.
int64_t countReplayedOps(ProgramOp function);

} // namespace reprise

#endif
