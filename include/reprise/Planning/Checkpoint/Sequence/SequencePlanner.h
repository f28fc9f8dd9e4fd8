// reprise: the cheapest plan within a budget, as a sequence of executions
#ifndef REPRISE_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEPLANNER_H
#define REPRISE_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEPLANNER_H

#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise::checkpoint {

/// A plan that names its executions.
struct SequencePlan {
  LaunchOrder order;
  /// Replays, and the originals that read some of them, with the numbers of program order.
  std::vector<Execution> executions;
  Usage usage; ///< what the step takes in that order, by Recount.h
};

/// The step in the order of a plan, with the plan's executions there.
struct SequencedStep {
  ReorderedStep step;
  Solution solution;
};

/// Returns the step that runs a plan; none if the plan is not one of the problem.
std::optional<SequencedStep> sequence(const Problem &problem, const Footprint &footprint,
                                      const LaunchLinks &links, const LaunchOrder &order,
                                      const std::vector<Execution> &executions);

/// Returns what a plan takes as the count of Recount.h sees it; none if the judge of solutions
/// refuses the plan. `isJoined` is that of Validate.h.
std::optional<Usage> judge(const Problem &problem, const Footprint &footprint,
                           const LaunchLinks &links, const LaunchOrder &order,
                           const std::vector<Execution> &executions, bool isJoined);

/// Anneals the order of the launches together with replays anywhere, for many budgets. The problem,
/// which must be valid and have one body, footprint and links stay the caller's.
///
/// - A **move** shifts a launch or a step of replays, replays a cell for its later readers, alone
///   or with what the replay lacks, or takes a replay back with what only that replay read.
/// - The **energy** is the cost in percent of all originals, and the bytes beyond the budget,
///   summed over all steps, in shares of the budget at a price. The price rises at the end of a run
///   as long as nothing fits.
class SequencePlanner {
public:
  SequencePlanner(const Problem &problem, const Footprint &footprint, const LaunchLinks &links,
                  BudgetOptions options = {});
  ~SequencePlanner();

  /// Returns plans whose peak is at most `budget` bytes, the cheapest one first, then earlier ones
  /// of the search, which may pack better; none if none was found, which proves nothing. Runs start
  /// from the plans of `starts`, which have one choice per value each. O(moves · steps).
  std::vector<SequencePlan> plan(int64_t budget, const std::vector<std::vector<Choice>> &starts);
  /// Returns a plan of the least peak that is found.
  std::optional<SequencePlan> planLeast(const std::vector<std::vector<Choice>> &starts);
  bool isTruncated() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_SEQUENCE_SEQUENCEPLANNER_H
