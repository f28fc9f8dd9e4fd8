// reprise: plans of a device program, in every form that a plan may give it
#ifndef REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H
#define REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H

#include "PlanSearch.h"

namespace reprise {

/// The answer to a budget.
struct BudgetOutcome {
  int64_t budget = 0;     ///< bytes of arena and workspace
  int64_t saveAll = 0;    ///< bytes of the program that saves every value
  int64_t usualBytes = 0; ///< bytes of the plan without a budget
  StepPlan plan;
  int rounds = 0;   ///< number of plans that were packed for the budget
  double total = 0; ///< seconds of the plan without a budget, by the cost model
  double usual = 0; ///< the part of `total` that is the plan's own
  double bound = 0; ///< lower bound on the seconds of every plan within the budget
  bool isTruncated = false;
};

/// Plans one program for many budgets. `plan` adds the forms of the program (Forms.h) and runs all
/// strategies (Strategies.h), which pack plans of the forms (Packer.h). The cheapest plan that fits
/// is the answer.
///
/// - A **form** is a change of the program before values are chosen, such as unrolled loops.
/// - A **strategy** proposes plans for a budget. No strategy searches a form whose lower bound is
///   not below the cost of a plan that fits.
/// - Every packed plan **competes** for all budgets, including later ones.
class ProgramPlanner {
public:
  /// `program` has been through `autodiff` and is not changed. All arguments outlive the planner.
  ProgramPlanner(ProgramOp program, const CompileOptions &options,
                 std::shared_ptr<LaunchFacts> facts, const CostModel &costs);

  /// Packs the plan that follows the labels. Must come first.
  mlir::LogicalResult start();
  const StepPlan &followed() const { return known.followed(); }
  /// Returns the seconds that the program takes in every plan; plans add their own.
  double stepSeconds() const { return known.stepSeconds(); }
  /// Returns bytes of arena and workspace of the program that saves every value. A budget of N% is
  /// a share of them.
  mlir::FailureOr<int64_t> findSaveAllBytes();
  /// Replaces the bytes that a budget of N% is a share of.
  void setSaveAllBytes(int64_t bytes) { saveAll = bytes; }
  mlir::FailureOr<int64_t> resolve(const Budget &budget);

  /// Finds the cheapest plan within `budget` bytes; null if no plan was found. Fails with an error
  /// if a plan cannot be packed.
  mlir::FailureOr<std::optional<BudgetOutcome>> plan(int64_t budget);
  /// Returns the bytes of some plan within `budget`; null if `plan` of a new planner finds no plan.
  /// Faster than `plan`. Drops all packed plans first.
  mlir::FailureOr<std::optional<int64_t>> findFitting(int64_t budget);
  /// Returns the seconds of a plan from elsewhere beyond those of the plan without a budget, as a
  /// fraction of the latter.
  mlir::FailureOr<double> findIncrease(const StepPlan &plan);
  /// Returns a lower bound on the seconds of every plan within `budget` bytes, in any form. The
  /// bound is for plans in program order, unless `plan` is reordered.
  double findBound(int64_t budget, const StepPlan &plan) const;
  /// Returns the bytes of the smallest packed plan.
  int64_t smallestBytes() const { return findSmallest(known).first->bytes(); }
  /// Returns the bytes of the smallest plan of the descents, after `plan` found no plan. The number
  /// is the same for every budget, and a new planner finds a plan within it.
  int64_t leastBytes() const;
  /// Emits the error for a budget without a plan, at the op where the smallest plan has its peak,
  /// and names the budget `feasible`, which has a plan.
  mlir::LogicalResult emitTooSmall(int64_t budget, int64_t feasible) const;

  /// Returns all packed plans.
  std::vector<const StepPlan *> plans() const { return listPlans(known); }

private:
  mlir::LogicalResult search(int64_t budget);

  PlanSearch known;
  std::optional<int64_t> saveAll;
};

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H
