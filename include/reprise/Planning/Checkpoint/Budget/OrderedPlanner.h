// reprise: the cheapest plan within a budget, in any order of the launches
#ifndef REPRISE_PLANNING_CHECKPOINT_BUDGET_ORDEREDPLANNER_H
#define REPRISE_PLANNING_CHECKPOINT_BUDGET_ORDEREDPLANNER_H

#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise::checkpoint {

/// A plan whose usage is that in an order of the launches.
struct OrderedPlan {
  LaunchOrder order;
  Plan plan;
};

/// Whether choices are worth annealing together with the order of the launches: in second
/// derivatives, whose passes may interleave. In others an order alone is enough.
bool wantsOrderedChoices(const Problem &problem, const Footprint &footprint);

/// Anneals the order of the launches and the choices together, for many budgets. The problem, which
/// must be valid and have one body, footprint and links stay the caller's.
///
/// - A **move** shifts one launch to another place between those that it waits for and those that
///   wait for it, or changes choices as the search in program order does (BudgetPlanner.h).
/// - The **energy** is that of this search: the seconds of all replays, and what all steps have
///   beyond the budget, at a price. So an order without replays and replays without another order
///   are weighed on one scale.
/// - Plans for one budget are starts for the next one.
class OrderedPlanner {
public:
  OrderedPlanner(const Problem &problem, const Footprint &footprint, const LaunchLinks &links,
                 BudgetOptions options = {});
  ~OrderedPlanner();

  /// Plans whose peak is at most `budget` bytes, from `choices` in program order and from plans for
  /// other budgets: the best one found, then others, the best first, which may pack better. None if
  /// none was found, which proves nothing. O(evaluations · (operations + links)).
  std::vector<OrderedPlan> plan(int64_t budget, const std::vector<std::vector<Choice>> &choices);
  /// The same choices in an order in which their peak is at most `budget` bytes, if one is found.
  std::optional<OrderedPlan> order(int64_t budget, const std::vector<Choice> &choices);
  /// The plan of the least peak among those that any call has returned or started from.
  const OrderedPlan &smallest() const;
  /// True if the options ended a search early.
  bool isTruncated() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

/// The plan of the least peak in any order of the launches that a descent finds, whatever the
/// budget: of all choices where they are annealed together with the order, or else of the labels.
OrderedPlan descendInOrders(const Problem &problem, const Footprint &footprint,
                            const LaunchLinks &links, BudgetOptions options);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BUDGET_ORDEREDPLANNER_H
