// reprise: what is planned under a budget, as numbers, and the way of a plan back into the graph
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise {

/// One outermost value_and_grad of a function after `autodiff`: operation i of the problem is
/// `ops[i]`. A loop is one operation. Or the bodies of loops that hand rows to each other, with a
/// null between two of them.
struct PlanningScope {
  llvm::SmallVector<mlir::Operation *> ops;
  checkpoint::Problem problem;
};

/// Returns the scopes outside of loops, in program order, that have ops of a backward pass.
std::vector<PlanningScope> findPlanningScopes(ProgramOp function);

/// The same scopes as one, so that what one keeps is weighed against what the others keep. What one
/// scope reads of another one stays. None without gradients.
std::optional<PlanningScope> findJointScope(ProgramOp function);

/// Tells whether the function has at most one scope outside of loops, planned or not. In another
/// order all of them are one scope (`kOneScopeAttr`), so that a plan of several cannot be carried
/// over.
bool isOneScope(ProgramOp function);

/// The scopes inside of loops, those of inner loops first. Each has several bodies.
std::vector<PlanningScope> findBodyScopes(ProgramOp function);

/// Writes the choices, one per value, on the ops as `reprise.choices`. `reprise-checkpoint` follows
/// them instead of the labels; in bodies, of the values that no label speaks of.
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
  llvm::StringRef rule; ///< which gave the label, with Reason::Label

  /// The rule, or the word of the reason.
  llvm::StringRef why() const {
    return reason == checkpoint::Reason::Label ? rule : llvm::StringRef(getText(reason));
  }
};
/// The verdict that `checkpoint` has written on the op of a value: `reprise.decisions` and
/// `reprise.reasons` have an entry per result. None on ops without them.
std::optional<Verdict> readVerdict(mlir::OpResult value);

/// The label of a value, such as "must_save"; empty without one.
llvm::StringRef readLabel(mlir::OpResult value);
/// Gives the results of an op these labels, of which some may be empty, instead of all that it has.
/// Their rule is the plan's file.
void replaceLabels(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> labels);

/// The blocks around an op that are replayed together, outermost first; labels make some of them.
llvm::ArrayRef<int64_t> readBlocks(mlir::Operation *op);
void replaceBlocks(mlir::Operation *op, llvm::ArrayRef<int64_t> blocks);

/// Takes all labels from the ops of a module, so that choices alone decide, and where no choice
/// speaks, in bodies of loops, all is saved.
void dropLabels(mlir::ModuleOp module);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_PLANNINGSCOPES_H
