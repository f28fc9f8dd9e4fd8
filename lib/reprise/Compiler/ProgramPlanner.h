// reprise: plans of a device program, in every form that a plan may give it
#ifndef REPRISE_COMPILER_PROGRAMPLANNER_H
#define REPRISE_COMPILER_PROGRAMPLANNER_H

#include "StepPlanner.h"

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

/// Plans one program for many budgets; each plan that is packed competes for every budget. A form
/// whose lower bound is not below the cost of a plan that fits is not searched. Second derivatives
/// are planned in other orders of their launches, too.
class ProgramPlanner {
public:
  /// `program` has been through `autodiff` and stays as it is; all arguments outlive the planner.
  ProgramPlanner(mlir::func::FuncOp program, const CompileOptions &options,
                 std::shared_ptr<LaunchFacts> facts, const CostModel &costs);

  /// Packs the program as the labels have it.
  mlir::LogicalResult start();
  const StepPlan &followed() const { return plain().followed(); }
  /// The seconds that the program takes in any plan, beside those of the plan.
  double stepSeconds() const { return plain().stepSeconds(); }
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
  int64_t smallestBytes() const { return findSmallest().first->bytes(); }
  /// Bytes of the smallest plan of the descents, after `plan` found none. The number is the same
  /// for every budget, and a fresh planner finds a plan within it.
  int64_t leastBytes() const;
  /// After `plan` found none: says so at the op where the need is highest, and names a budget that
  /// can be met.
  mlir::LogicalResult emitTooSmall(int64_t budget, int64_t feasible) const;

  /// All plans that were packed.
  std::vector<const StepPlan *> plans() const;

private:
  /// Loops of more ops than that when they are unrolled are unrolled only where nothing else fits.
  static constexpr int64_t kMostUnrolled = 16384;

  /// The program in one form.
  struct Form {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::unique_ptr<StepPlanner> planner;
  };

  std::vector<StepPlanner *> listPlanners() const;
  StepPlanner &plain() const { return *forms.front().planner; }
  mlir::LogicalResult addForms();
  mlir::LogicalResult addForm(StepPlan shape);
  mlir::LogicalResult addDeferred(const Form &form);
  mlir::LogicalResult addUnrolled();
  mlir::LogicalResult survey(Form form, StepPlan shape);
  mlir::FailureOr<bool> mayWin(StepPlanner &form, double least, int64_t budget);
  const StepPlan *findBest(int64_t budget) const;
  mlir::LogicalResult search(int64_t budget);
  bool isEnough(int64_t budget) const;
  std::optional<size_t> findForm(const StepPlanner *planner) const;
  mlir::LogicalResult searchLikely(int64_t budget);
  mlir::LogicalResult searchForms(int64_t budget);
  mlir::LogicalResult searchForm(StepPlanner &form, double least, int64_t budget);
  mlir::LogicalResult searchSmaller(int64_t budget);
  mlir::LogicalResult searchOrders(int64_t budget);
  mlir::LogicalResult packSmallestOrdered();
  mlir::FailureOr<StepPlanner *> addOrdered(StepPlan proposed);
  mlir::LogicalResult addOffloaded(const Form &form, llvm::ArrayRef<int64_t> values,
                                   std::vector<Form> &list);
  mlir::LogicalResult relax();
  mlir::LogicalResult searchOffloads(int64_t budget);
  void forget();
  std::pair<const StepPlan *, StepPlanner *> findSmallest() const;
  bool isTruncated() const;
  int64_t findRoom(int64_t budget) const;

  mlir::func::FuncOp program;
  PlanContext context;
  std::vector<Form> forms;   ///< the program as it is first
  std::vector<Form> ordered; ///< the program in other orders, each found for one budget
  /// Forms with values on the host, where the device has a link to it: each found for one budget;
  /// and one for bounds per form.
  std::vector<Form> offloading, relaxed;
  std::optional<int64_t> saveAll;
  bool hasForms = false, hasSmallestOrdered = false;
  bool isUnrolledLast = false;      ///< unrolled loops are too large to compete with others
  int64_t leastOrdered = INT64_MAX; ///< bytes of what packSmallestOrdered has packed
  size_t numCompeting = 1;          ///< forms but those that are unrolled last
  bool takesAny = false;            ///< any plan within the budget does
  std::optional<size_t> likely;     ///< the form that is searched first
};

} // namespace reprise

#endif // REPRISE_COMPILER_PROGRAMPLANNER_H
