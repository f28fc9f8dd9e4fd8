// reprise: the cheapest plan within a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H
#define REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H

#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include <functional>
#include <memory>

namespace reprise::checkpoint {

struct BudgetOptions {
  /// Schedules that are measured; the default depends on the problem's size alone.
  int64_t evaluations = 0;
  double effort = 1; ///< a factor of that default
  int anneals = 4;   ///< runs of annealing, where the cheapest plan is not near the bound
  /// Asked now and then; the search ends with what it has when it says true.
  std::function<bool()> isOver;
};

/// Choices, one per value, and what they come to.
struct Plan {
  std::vector<Choice> choices;
  Usage usage;
  int64_t overridden = 0; // bytes of values whose PREFER is not obeyed
};

/// Searches the plans of one problem for many budgets. MUSTs are obeyed by every plan; a PREFER
/// only where the budget allows it, fewest bytes first.
class BudgetPlanner {
public:
  BudgetPlanner(const Problem &problem, const Footprint &footprint, BudgetOptions options = {});
  ~BudgetPlanner();

  /// The plan that obeys all labels.
  const Plan &followed() const;
  /// True if that plan replays values which no label speaks of, so that others may be cheaper.
  bool isOpen() const;
  /// The cheapest plan found whose peak is at most `budget` bytes; none if there is none.
  std::optional<Plan> plan(int64_t budget);
  /// The plan of the least peak that any call has seen.
  const Plan &smallest() const;
  /// True if the options ended a search early.
  bool isTruncated() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H
