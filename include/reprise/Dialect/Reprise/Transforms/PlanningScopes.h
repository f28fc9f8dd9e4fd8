// reprise: planning problems under a budget, as numbers, and the application of plans to the graph
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise {

/// Outermost value_and_grad of a function after `autodiff`, or the bodies of loops that pass rows
/// to each other, with a null between two bodies. Operation i of the problem is `ops[i]`. A loop is
/// one operation.
struct PlanningScope {
  llvm::SmallVector<mlir::Operation *> ops;
  checkpoint::Problem problem;
};

/// Returns the scopes outside of loops, in program order, that have ops of a backward pass.
std::vector<PlanningScope> findPlanningScopes(ProgramOp function);

/// Returns all scopes as one, so that the values that one scope keeps compete with those of the
/// others. Reads between scopes stay unchanged. None without gradients.
std::optional<PlanningScope> findJointScope(ProgramOp function);

/// Returns whether the function has at most one scope outside of loops, planned or not. In another
/// order all scopes become one (`kOneScopeAttr`), so that a plan of several scopes cannot be
/// carried over.
bool isOneScope(ProgramOp function);

/// Returns the scopes inside of loops, inner loops first. Each scope has several bodies.
std::vector<PlanningScope> findBodyScopes(ProgramOp function);

/// Writes the choices, one per value, on the ops as `reprise.choices`. `reprise-checkpoint` follows
/// them instead of the labels. In bodies it follows them only for values without a label.
void writeChoices(const PlanningScope &scope, llvm::ArrayRef<checkpoint::Choice> choices);

/// Executions that a plan names for a scope. In a plan a replay stands before an op of the program,
/// by the number of the op in its block; `before` is that number or -1.
struct NamedExecutions {
  /// Executions whose `before` is an operation of the scope: the first one behind the op of the
  /// program, or that op.
  std::vector<checkpoint::Execution> executions;
  std::vector<mlir::Operation *> places; ///< ops of the program, per execution; null for none
};
/// Returns the executions for the ops of a scope of the program; none if a number is too large.
std::optional<NamedExecutions> findPlaces(ProgramOp program, llvm::ArrayRef<mlir::Operation *> ops,
                                          std::vector<checkpoint::Execution> executions);

/// A decision on a value of the forward pass, with its reason.
struct Verdict {
  checkpoint::Decision decision = checkpoint::Decision::NotNeeded;
  checkpoint::Reason reason = checkpoint::Reason::NotRead;
  llvm::StringRef rule; ///< rule that gave the label, with Reason::Label

  /// Returns the rule, or the word of the reason.
  llvm::StringRef why() const {
    return reason == checkpoint::Reason::Label ? rule : llvm::StringRef(getText(reason));
  }
};
/// Returns the verdict that `checkpoint` has written on the op of a value: `reprise.decisions` and
/// `reprise.reasons` have an entry per result. None on ops without these attributes.
std::optional<Verdict> readVerdict(mlir::OpResult value);

/// Returns the label of a value, such as "must_save"; empty without a label.
llvm::StringRef readLabel(mlir::OpResult value);
/// Replaces all labels of an op by one label per result, some of which may be empty. Their rule is
/// the plan's file.
void replaceLabels(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> labels);

/// Returns the blocks around an op that are replayed together, outermost first; labels make some of
/// them.
llvm::ArrayRef<int64_t> readBlocks(mlir::Operation *op);
void replaceBlocks(mlir::Operation *op, llvm::ArrayRef<int64_t> blocks);

/// Drops all labels from the ops of a module, so that only choices decide. In bodies of loops,
/// values without a choice are saved.
void dropLabels(mlir::ModuleOp module);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H
