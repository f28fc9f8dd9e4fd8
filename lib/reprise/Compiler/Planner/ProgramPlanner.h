// reprise: plans of a device program, in every form that a plan may give it
#ifndef REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H
#define REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H

#include "PlanSearch.h"

namespace reprise {

/// What was found out about a budget.
struct BudgetOutcome {
  int64_t budget = 0;     ///< bytes of arena and workspace
  int64_t saveAll = 0;    ///< the same of the program that saves every value
  int64_t usualBytes = 0; ///< the same of the plan without a budget
  StepPlan plan;
  int rounds = 0;   ///< plans that were packed for it
  double total = 0; ///< seconds of the plan without a budget, by the cost model
  double usual = 0; ///< its part of these
  double bound = 0; ///< seconds that every plan within the budget costs, in any form
  bool isTruncated = false;
};

/// Plans one program for many budgets. `plan` adds the program's forms (Forms.h) and runs all
/// strategies (Strategies.h), which pack plans of the forms (Packer.h); the cheapest plan that fits
/// is the answer.
///
/// - A **form** is what a plan changes of the program before values are chosen.
/// - A **strategy** proposes plans for a budget. A form whose lower bound is not below the cost of
///   a plan that fits is not searched.
/// - Every plan that is packed **competes** for all budgets, also for those that are asked for
///   later.
class ProgramPlanner {
public:
  /// `program` has been through `autodiff` and stays as it is; all arguments outlive the planner.
  ProgramPlanner(mlir::func::FuncOp program, const CompileOptions &options,
                 std::shared_ptr<LaunchFacts> facts, const CostModel &costs);

  /// Packs the program as the labels have it.
  mlir::LogicalResult start();
  const StepPlan &followed() const { return known.followed(); }
  /// The seconds that the program takes in any plan, beside those of the plan.
  double stepSeconds() const { return known.stepSeconds(); }
  /// Arena and workspace of the program that saves every value, which N% is a share of.
  mlir::FailureOr<int64_t> findSaveAllBytes();
  /// What N% is a share of instead, from here on.
  void setSaveAllBytes(int64_t bytes) { saveAll = bytes; }
  mlir::FailureOr<int64_t> resolve(const Budget &budget);

  /// The cheapest plan within `budget` bytes; null if none was found. Fails if a plan cannot be
  /// packed, with an error.
  mlir::FailureOr<std::optional<BudgetOutcome>> plan(int64_t budget);
  /// The bytes of some plan within `budget`; null where `plan` finds none in a planner that knows
  /// no plan yet. Takes less time than `plan`. Forgets first what was packed.
  mlir::FailureOr<std::optional<int64_t>> findFitting(int64_t budget);
  /// What a plan from elsewhere costs beyond the plan without a budget, as a fraction of its
  /// seconds.
  mlir::FailureOr<double> findIncrease(const StepPlan &plan);
  /// Seconds that every plan within the bytes of `plan` costs, in any form; of those in program
  /// order, if `plan` is one.
  double findBound(int64_t budget, const StepPlan &plan) const;
  /// The bytes of the smallest plan that was packed.
  int64_t smallestBytes() const { return findSmallest(known).first->bytes(); }
  /// Bytes of the smallest plan of the descents, after `plan` found none. The number is the same
  /// for every budget, and a fresh planner finds a plan within it.
  int64_t leastBytes() const;
  /// After `plan` found none: says so at the op where the need is highest, and names a budget that
  /// can be met.
  mlir::LogicalResult emitTooSmall(int64_t budget, int64_t feasible) const;

  /// All plans that were packed.
  std::vector<const StepPlan *> plans() const { return listPlans(known); }

private:
  mlir::LogicalResult search(int64_t budget);

  PlanSearch known;
  std::optional<int64_t> saveAll;
};

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PROGRAMPLANNER_H
