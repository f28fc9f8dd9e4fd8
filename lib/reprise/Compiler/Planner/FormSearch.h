// reprise: the plans of a device program in one form, for many budgets
#ifndef REPRISE_COMPILER_PLANNER_FORMSEARCH_H
#define REPRISE_COMPILER_PLANNER_FORMSEARCH_H

#include "FormedStep.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

namespace reprise {

/// The program in one form, with all plans of this form that were packed. A packed plan competes
/// for every budget.
struct FormSearch {
  FormSearch(FormedStep step, const PlanContext &context);
  FormSearch(const FormSearch &) = delete; // the planners of choices refer to `step`

  FormedStep step;
  const PlanContext &context;
  std::unique_ptr<checkpoint::BudgetPlanner> choices;     ///< null for a step without cotangents
  std::unique_ptr<checkpoint::SequencePlanner> sequences; ///< null before proposeSequences
  std::vector<StepPlan> packed;                           ///< the first plan is `followed`
  std::optional<StepPlan> kept;   ///< the plan of the labels, after it was forgotten
  std::vector<StepPlan> descents; ///< plans of packSmaller, the same for every budget
  int64_t reorderedFor = -1;      ///< the last budget of packReordered
  bool isTruncated = false;       ///< the time limit ended a search early
  bool hasDescended = false;      ///< `packed` holds the descents

  /// The plan that follows the labels; for a form in another order, the plan that was proposed with
  /// this order.
  const StepPlan &followed() const { return packed.front(); }
  /// Returns true once the time for first plans is over, and then notes that a search ends early.
  bool isLate();
};

/// Drops all packed plans, so that the next search does not depend on earlier ones. With
/// `keepsFollowed` the plan of the labels stays.
void forget(FormSearch &form, bool keepsFollowed);

/// Packs the plan that follows the labels, if no plan was packed yet.
mlir::LogicalResult packFollowed(FormSearch &form);
/// Packs the plan of the labels with its launches in another order, which adds no seconds, if that
/// plan does not fit `budget` in program order.
mlir::LogicalResult packReordered(FormSearch &form, int64_t budget);
/// Searches and packs choices for `budget` bytes of arena and workspace. Fails with an error if a
/// plan cannot be packed.
mlir::LogicalResult searchWithin(FormSearch &form, int64_t budget);
/// Packs plans of fewer and fewer bytes, down to the smallest plan that is found. These plans are
/// the same for every budget, so that a budget of the smallest plan's bytes is met later, too.
mlir::LogicalResult packSmaller(FormSearch &form);
/// Returns the bytes of the smallest plan of `packSmaller`, or of the plan of the labels.
int64_t leastBytes(const FormSearch &form);

/// Packs a plan of the form. An arena of `enough` bytes need not be made smaller; 0 asks for the
/// smallest arena.
mlir::LogicalResult packAndKeep(FormSearch &form, StepPlan plan, int64_t enough);
/// Returns the unpacked plan of the form with the choices of `plan`.
StepPlan describe(const FormSearch &form, const checkpoint::Plan &plan);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMSEARCH_H
