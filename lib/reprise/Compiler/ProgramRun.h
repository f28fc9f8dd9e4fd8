// reprise: the compilation of one device program, up to its places in memory
#ifndef REPRISE_COMPILER_PROGRAMRUN_H
#define REPRISE_COMPILER_PROGRAMRUN_H

#include "Planner/ProgramPlanner.h"

namespace reprise {

/// One device program on its way from `autodiff`, or from the later phase that its module has been
/// through, to `memory`.
class ProgramRun {
public:
  /// `options` and `costs` outlive the run. `phases` are those of the options but for what a plan
  /// or the program's target change; they hold the target's facts.
  ProgramRun(ProgramOp program, const CompileOptions &options, PhaseOptions phases,
             const CostModel &costs);

  /// Whether a budget or the device's memory bounds what the program takes.
  bool isBounded() const { return options.budget || room; }
  /// Of a program for which `plan` found none within these bounds: the bounds over the bytes of its
  /// smallest plan.
  std::optional<double> getShortRoom() const { return shortRoom; }
  /// Says so, at the op where the need is highest, with the least that does.
  /// \p known is the least budget over other cuts, in bytes, if there are any.
  mlir::LogicalResult refuse(std::optional<int64_t> known = std::nullopt);
  /// Finds the smallest plan. The program counts as one that does not fit into one byte.
  mlir::LogicalResult measure();
  /// Bytes within which such a program has a plan, whatever the budget was.
  int64_t leastBytes() const { return planner->leastBytes(); }

  /// Arena and workspace of the program that saves every value.
  mlir::FailureOr<int64_t> findSaveAllBytes();
  /// A budget that is a share is one of so many bytes. Of several programs it is that of the one
  /// that takes most, as their devices are mostly alike.
  mlir::LogicalResult setSaveAllBytes(int64_t bytes);
  /// The form and the choices of a plan: of `file`, of a search within the budget, or of labels. A
  /// program that does not fit stays as it is.
  mlir::LogicalResult plan(const llvm::json::Value *file);
  /// Up to `memory`. The report speaks of values, which the launches swallow.
  mlir::LogicalResult lower(Phase after);
  /// After the report has the bytes: what is written down keeps the promise, whatever was
  /// predicted.
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
  std::optional<int64_t> room;             ///< for arena and workspace in the memory of the device
  std::unique_ptr<ProgramPlanner> planner; ///< until there is a plan
  std::optional<double> shortRoom;
  std::optional<BudgetOutcome> outcome;
  std::optional<int64_t> budgetBytes;
  CompiledProgram compiled;
};

} // namespace reprise

#endif // REPRISE_COMPILER_PROGRAMRUN_H
