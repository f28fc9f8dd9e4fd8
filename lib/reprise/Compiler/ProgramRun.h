// reprise: the compilation of one device program, up to its places in memory
#ifndef REPRISE_COMPILER_PROGRAMRUN_H
#define REPRISE_COMPILER_PROGRAMRUN_H

#include "Planner/ProgramPlanner.h"

namespace reprise {

/// Compilation of one device program from `autodiff`, or from a later phase that its module has
/// been through, to `memory`.
class ProgramRun {
public:
  /// Makes the run; `options` and `costs` outlive it. `phases` are those of the options with the
  /// changes of a plan or of the program's target; they hold the target's facts.
  ProgramRun(ProgramOp program, const CompileOptions &options, PhaseOptions phases,
             const CostModel &costs);

  /// Returns whether a budget or the device's memory limits the program.
  bool isBounded() const { return options.budget || room; }
  /// Returns, if `plan` found no plan within the limits, the limits divided by the bytes of the
  /// smallest plan.
  std::optional<double> getShortRoom() const { return shortRoom; }
  /// Reports that no plan fits, at the op with the highest need, with the smallest budget that
  /// fits. \p known is the smallest budget over other cuts, in bytes, if there are any.
  mlir::LogicalResult refuse(std::optional<int64_t> known = std::nullopt);
  /// Finds the smallest plan. The program counts as one that does not fit into one byte.
  mlir::LogicalResult measure();
  /// Returns the smallest bytes for which a plan was found, whatever the budget was.
  int64_t leastBytes() const { return planner->leastBytes(); }

  /// Arena and workspace of the program that saves every value.
  mlir::FailureOr<int64_t> findSaveAllBytes();
  /// Sets the bytes that a share refers to. With several programs these are the bytes of the
  /// largest, since devices are mostly equal.
  mlir::LogicalResult setSaveAllBytes(int64_t bytes);
  /// Finds the form and the choices of a plan: from `file`, by a search within the budget, or from
  /// labels. A program that does not fit stays unchanged.
  mlir::LogicalResult plan(const llvm::json::Value *file);
  /// Carries out the plan: runs the phases behind `after` up to `checkpoint`.
  mlir::LogicalResult checkpoint(Phase after);
  /// Lowers from `checkpoint` to `kernels`. The report of values comes first, because launches hide
  /// them.
  mlir::LogicalResult form(Phase after);
  /// Lowers from `kernels` to `memory`. If the program exceeds its budget, it becomes `before`, its
  /// copy before launches moved, which may be null. Returns whether it did.
  mlir::FailureOr<bool> place(Phase after, mlir::OwningOpRef<ProgramOp> before);
  /// Checks the budget against the bytes of the report, whatever was predicted.
  mlir::LogicalResult checkBudget() const;

  ProgramOp getProgram() const { return program; }
  const CostModel &getCosts() const { return costs; }
  const PhaseOptions &getPhases() const { return phases; }
  std::optional<int64_t> getBudget() const { return budgetBytes; }
  CompiledProgram &getCompiled() { return compiled; }

private:
  mlir::LogicalResult startPlanner();
  mlir::LogicalResult planWithin();
  mlir::FailureOr<int64_t> findBudget();
  mlir::LogicalResult emitNoRoom(int64_t least) const;
  mlir::LogicalResult emitTooSmall(int64_t least) const;
  mlir::FailureOr<int64_t> findLeast(int64_t budget, int64_t feasible);
  mlir::FailureOr<StepPlan> readPlan(const llvm::json::Value &file);
  mlir::LogicalResult runPhases(Phase from, Phase to);

  ProgramOp program;
  const CompileOptions &options;
  PhaseOptions phases;
  const CostModel &costs;
  /// Bytes for arena and workspace in the memory of the device.
  std::optional<int64_t> room;
  std::unique_ptr<ProgramPlanner> planner; ///< planner, until there is a plan
  std::optional<double> shortRoom;
  std::optional<BudgetOutcome> outcome;
  std::optional<int64_t> budgetBytes;
  CompiledProgram compiled;
};

} // namespace reprise

#endif // REPRISE_COMPILER_PROGRAMRUN_H
