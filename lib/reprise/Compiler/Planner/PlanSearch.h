// reprise: all that is known of one device program while its plans are searched
#ifndef REPRISE_COMPILER_PLANNER_PLANSEARCH_H
#define REPRISE_COMPILER_PLANNER_PLANSEARCH_H

#include "FormSearch.h"

#include <deque>

namespace reprise {

/// The state of a search: a program in all its forms, with their plans. Kinds of forms (Forms.h)
/// add forms, strategies (Strategies.h) pack plans, and every plan competes for every budget.
struct PlanSearch {
  /// `program` has been through `autodiff` and is not changed. All arguments outlive the search.
  PlanSearch(ProgramOp program, const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
             const CostModel &costs);

  ProgramOp program;
  PlanContext context;
  std::deque<FormSearch> forms;      ///< the first form is the program itself
  std::deque<FormSearch> ordered;    ///< forms in other orders, each made for one budget
  std::deque<FormSearch> offloading; ///< forms with offloads, each made for one budget
  /// Steps for lower bounds, one per form, if the device has a link to the host (relaxOffloads).
  std::vector<FormedStep> relaxed;
  size_t numCompeting = 1;          ///< number of forms that compete for every budget
  bool isUnrolledLast = false;      ///< loops are unrolled only if nothing else fits
  bool hasForms = false;            ///< all forms have been added
  bool hasSmallestOrdered = false;  ///< packSmallestSequence has run
  int64_t leastOrdered = INT64_MAX; ///< bytes of the plan of packSmallestSequence
  bool takesAny = false;            ///< any plan within the budget ends the search
  FormSearch *likely = nullptr;     ///< the form that is searched first

  /// The search of the program without a form.
  FormSearch &plain() { return forms.front(); }
  const FormSearch &plain() const { return forms.front(); }
  const StepPlan &followed() const { return plain().followed(); }
  /// Returns the seconds that the program takes in every plan; plans add their own.
  double stepSeconds() const { return plain().step.base; }
  /// Returns the bytes of arena within a budget: the budget without the workspace.
  int64_t findRoom(int64_t budget) const { return budget - followed().workspace; }
};

/// Surveys the function in `module`, which has the form of `shape`, and adds the form to `list`.
mlir::FailureOr<FormSearch *> addForm(PlanSearch &search, mlir::OwningOpRef<mlir::ModuleOp> module,
                                      StepPlan shape, std::deque<FormSearch> &list);

/// Returns the searches of all forms, orders and offloads.
std::vector<const FormSearch *> listSearches(const PlanSearch &search);
/// Returns all packed plans.
std::vector<const StepPlan *> listPlans(const PlanSearch &search);
/// Returns the cheapest packed plan within the budget; null if no plan fits.
const StepPlan *findBest(const PlanSearch &search, int64_t budget);
/// Returns the plan of the fewest bytes, and the search that has packed it.
std::pair<const StepPlan *, const FormSearch *> findSmallest(const PlanSearch &search);
/// Tells whether the search may end: some plan fits, and either any such plan is enough or the time
/// limit is over.
bool isEnough(const PlanSearch &search, int64_t budget);
/// Tells whether the time limit has ended any search early.
bool isTruncated(const PlanSearch &search);
/// Returns the steps whose lower bounds together hold for every plan of the program.
std::vector<const FormedStep *> listBounding(const PlanSearch &search);

/// Drops every packed plan except the plan that follows the labels, so that the next search does
/// not depend on earlier ones.
void forget(PlanSearch &search);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLANSEARCH_H
