// reprise: all that is known of one device program while its plans are searched
#ifndef REPRISE_COMPILER_PLANNER_PLANSEARCH_H
#define REPRISE_COMPILER_PLANNER_PLANSEARCH_H

#include "FormSearch.h"

#include <deque>

namespace reprise {

/// The program in all forms that were tried. Forms add to it (Forms.h), strategies pack plans of
/// them (Strategies.h), and every plan competes for every budget.
struct PlanSearch {
  /// `program` has been through `autodiff` and stays as it is; all arguments outlive the search.
  PlanSearch(mlir::func::FuncOp program, const CompileOptions &options,
             std::shared_ptr<LaunchFacts> facts, const CostModel &costs);

  mlir::func::FuncOp program;
  PlanContext context;
  std::deque<FormSearch> forms;      ///< the program as it is first
  std::deque<FormSearch> ordered;    ///< in other orders, each found for one budget
  std::deque<FormSearch> offloading; ///< with values on the host, each found for one budget
  /// For bounds, where the device has a link to the host: per form, one that may offload any value
  /// at no more than it costs to make it again.
  std::vector<FormedStep> relaxed;
  size_t numCompeting = 1;          ///< forms but those that are unrolled last
  bool isUnrolledLast = false;      ///< unrolled loops are too large to compete with others
  bool hasForms = false;            ///< all forms have been added
  bool hasSmallestOrdered = false;  ///< the smallest plan in any order has been packed
  int64_t leastOrdered = INT64_MAX; ///< bytes of that plan
  bool takesAny = false;            ///< any plan within the budget ends the search
  FormSearch *likely = nullptr;     ///< the form that is searched first

  /// The program without a form.
  FormSearch &plain() { return forms.front(); }
  const FormSearch &plain() const { return forms.front(); }
  const StepPlan &followed() const { return plain().followed(); }
  /// The seconds that the program takes in any plan, beside those of the plan.
  double stepSeconds() const { return plain().step.base; }
  /// What a budget leaves for the arena.
  int64_t findRoom(int64_t budget) const { return budget - followed().workspace; }
};

/// Surveys the function in `module`, which has the form of `shape`, and adds it to `list`.
mlir::FailureOr<FormSearch *> addForm(PlanSearch &search, mlir::OwningOpRef<mlir::ModuleOp> module,
                                      StepPlan shape, std::deque<FormSearch> &list);

/// The searches of all forms, orders and offloads.
std::vector<const FormSearch *> listSearches(const PlanSearch &search);
/// All plans that were packed.
std::vector<const StepPlan *> listPlans(const PlanSearch &search);
/// The cheapest plan within the budget; null if there is none.
const StepPlan *findBest(const PlanSearch &search, int64_t budget);
/// The plan of the fewest bytes, and the search that has packed it.
std::pair<const StepPlan *, const FormSearch *> findSmallest(const PlanSearch &search);
/// Whether a plan within the budget ends the search, however dear it is.
bool isEnough(const PlanSearch &search, int64_t budget);
/// Whether the time limit ended any search.
bool isTruncated(const PlanSearch &search);
/// The steps whose bounds hold for every plan.
std::vector<const FormedStep *> listBounding(const PlanSearch &search);

/// Forgets all plans that were packed but that of the labels: what follows is as if it came first.
void forget(PlanSearch &search);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLANSEARCH_H
