// reprise: the cheapest plan within a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H
#define REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H

#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include <functional>
#include <memory>
#include <optional>

namespace reprise::checkpoint {

/// How long to search. The same options give the same plan, unless `isOver` ends the search.
struct BudgetOptions {
  /// Measurements of choices for one budget; 0 stands for a number that depends on the problem's
  /// size alone, from 60 to 20,000.
  int64_t evaluations = 0;
  double effort = 1; ///< a factor of that default
  int anneals = 4;   ///< runs of annealing, where the cheapest plan is not near the bound
  /// Asked now and then; the search ends with the first plans when it says true.
  IsOver isOver;
  /// Asked in bounds and first plans, too; the search ends with what it has when it says true.
  IsOver isLate;
};

/// Choices, one per value, and what they take.
struct Plan {
  std::vector<Choice> choices;
  Usage usage;
  int64_t overridden = 0; // bytes of values whose PREFER is not obeyed
};

/// Plans of ever smaller peaks.
struct Descent {
  /// Each of a smaller peak than the one before, the first one's is followed().
  std::vector<Plan> plans;
  bool isTruncated = false; ///< the options ended it early
};

/// Searches the plans of one problem for many budgets. The problem, which must be valid and have
/// one body, and the footprint stay the caller's.
///
/// - A plan is a choice per value (Replays.h). It **fits** if its peak (Footprint.h) is at most the
///   budget. Of two plans that fit, the one that overrides fewer bytes is better, then the one with
///   fewer seconds of replays.
/// - MUSTs are obeyed by every plan. PREFERs are obeyed in a first search; only where nothing fits,
///   a second search may override them.
/// - The search starts from cuts, prices and chains, repairs what does not fit, saves what fits,
///   and anneals as long as the bound is not near. Where few values can be chosen, it tries all
///   choices.
/// - Plans for one budget are starts for the next one, so that more bytes seldom cost more.
///
/// - Where the first plans and their repairs do not fit, the search goes on from `descend`, whose
///   plans do not depend on the budget. So whatever fits its least peak is found.
class BudgetPlanner {
public:
  BudgetPlanner(const Problem &problem, const Footprint &footprint, BudgetOptions options = {});
  ~BudgetPlanner();

  /// The plan that obeys all labels.
  const Plan &followed() const;
  /// True if that plan replays values which no label speaks of, so that others may be cheaper.
  bool isOpen() const;
  /// The best plan found whose peak is at most `budget` bytes; none if none was found, which proves
  /// nothing (Bound.h does). O(evaluations · (launches + operations)).
  std::optional<Plan> plan(int64_t budget);
  /// Searches to come start from these choices, too. Returns what they take.
  Plan addStart(std::vector<Choice> choices);
  /// Plans of ever smaller peaks, the same ones whatever was asked for before.
  const Descent &descend();
  /// Drops the plans of all budgets, so that the next search does not depend on earlier ones. The
  /// plans of `descend` stay, as they do not depend on a budget.
  void forget();
  /// A plan of the least peak of `descend`, made cheaper.
  Plan planLeast();
  /// The plan of the least peak that any call has seen.
  const Plan &smallest() const;
  /// True if the options ended a search early.
  bool isTruncated() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

/// Searches for ever smaller peaks: each for a quarter of the peak less than what the one before
/// reached, as long as that helps, then for a 16th and for a 64th. Up to 12 searches.
/// \p search takes a budget in bytes and returns the smallest peak that is known after it.
void stepDown(int64_t peak, const std::function<int64_t(int64_t)> &search);

/// Plans of ever smaller peaks, whatever the budget. Repairs of a few starts go down to what every
/// plan needs by large steps, then by smaller ones; then annealing looks for the rest. Of small
/// problems the last plan has the least peak of all. Takes about as long as a search for one
/// budget. Only with \p mayOverride may plans go against a PREFER.
Descent descend(const Problem &problem, const Footprint &footprint, BudgetOptions options,
                bool mayOverride = true);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BUDGET_BUDGETPLANNER_H
