// reprise: schedules of a graph within budgets
#ifndef REPRISE_TOOLS_REPRISE_PLAN_CHECKPOINT_H
#define REPRISE_TOOLS_REPRISE_PLAN_CHECKPOINT_H

#include "Graph.h"
#include "llvm/Support/Error.h"

namespace reprise::remat {

/// What was found for one budget.
struct Plan {
  int64_t budget = 0, peak = 0;
  double extraCost = 0, bound = 0; ///< percent of the cost without replays
  double seconds = 0;
  int64_t need = 0;         ///< more than the budget: no schedule fits
  int64_t lowestPeak = 0;   ///< without a schedule: the smallest budget known to be met
  bool isTruncated = false; ///< by the time limit
  std::optional<Schedule> schedule;
};

/// Bytes, or a share such as 80% of the peak without replays; units are KiB, MiB and GiB.
llvm::Expected<int64_t> parseBudget(llvm::StringRef text, int64_t peak);

/// The time limit, in seconds, cuts between windows of moves; zero leaves what is found without a
/// search.
Plan planWithin(const Problem &problem, int64_t budget, std::optional<double> timeLimit);

/// One line for the terminal, one object for programs.
std::string describe(const Plan &plan);
std::string describeAsJson(const std::vector<Plan> &plans);
/// The schedule: operations by number, and the place that each operand is read from.
std::string writeSchedule(const Plan &plan);

} // namespace reprise::remat

#endif // REPRISE_TOOLS_REPRISE_PLAN_CHECKPOINT_H
