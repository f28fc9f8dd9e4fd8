// reprise: the plans of a device program in one form, for many budgets
#ifndef REPRISE_COMPILER_PLANNER_FORMSEARCH_H
#define REPRISE_COMPILER_PLANNER_FORMSEARCH_H

#include "FormedStep.h"
#include "reprise/Planning/Checkpoint/Budget/OrderedPlanner.h"

namespace reprise {

/// The program in one form, and all plans of it that were packed. Each plan that is packed competes
/// for every budget.
struct FormSearch {
  FormSearch(FormedStep step, const PlanContext &context);
  FormSearch(const FormSearch &) = delete; // the planners of choices refer to `step`

  FormedStep step;
  const PlanContext &context;
  std::unique_ptr<checkpoint::BudgetPlanner> choices;  ///< null without cotangents
  std::unique_ptr<checkpoint::OrderedPlanner> ordered; ///< once it is asked for
  std::vector<StepPlan> packed;                        ///< the first one is `followed`
  std::optional<StepPlan> kept;   ///< the plan of the labels, while it is forgotten
  std::vector<StepPlan> descents; ///< of packSmaller, whatever the budget
  int64_t reorderedFor = -1;      ///< the last budget of packReordered
  bool isTruncated = false;       ///< the time limit ended a search early
  bool hasDescended = false;      ///< `packed` holds the descents

  /// The plan of the labels; in another order, the one that it was made for.
  const StepPlan &followed() const { return packed.front(); }
  /// True once the time for first plans is over. A search that asks ends then.
  bool isLate();
};

/// Forgets all plans but, with `keepsFollowed`, that of the labels: searches to come are those of a
/// new search.
void forget(FormSearch &form, bool keepsFollowed);

/// Packs the step as the labels have it, once.
mlir::LogicalResult packFollowed(FormSearch &form);
/// Another order of the launches costs nothing, which may be cheaper than replays.
mlir::LogicalResult packReordered(FormSearch &form, int64_t budget);
/// Looks for a plan within `budget` bytes. Fails if a plan cannot be packed, with an error.
mlir::LogicalResult searchWithin(FormSearch &form, int64_t budget);
/// Packs plans of fewer and fewer bytes down to the smallest one that is found; whatever the budget
/// was, the same ones, so that what is said to be the smallest can be met.
mlir::LogicalResult packSmaller(FormSearch &form);
/// Bytes of the smallest plan of `packSmaller`, or of the plan of the labels.
int64_t leastBytes(const FormSearch &form);

/// Packs a plan of the form, for which an arena of `enough` bytes does, 0 for the lowest.
mlir::LogicalResult packAndKeep(FormSearch &form, StepPlan plan, int64_t enough);
/// The plan of the form with these choices.
StepPlan describe(const FormSearch &form, const checkpoint::Plan &plan);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMSEARCH_H
