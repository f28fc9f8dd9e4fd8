// reprise: annealing over order and replays together
#ifndef REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H
#define REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H

#include "reprise/Planning/Rematerialization/Problem.h"
#include <functional>

namespace reprise::remat {

struct AnnealOptions {
  int64_t moves = 4'000'000; ///< of all runs together
  uint64_t seed = 1;
  double enough = 0; ///< the extra cost at which the search ends, such as its lower bound
  /// A schedule that fits, if one is known: nothing dearer is returned.
  std::optional<Schedule> start;
  /// Asked a hundred times per run or more often; ends the search.
  std::function<bool()> isOver = [] { return false; };
};

struct Annealed {
  std::optional<Schedule> schedule; ///< the cheapest one within the budget, if any was found
  int64_t lowestPeak = 0;           ///< of all schedules looked at now and then
  bool isTruncated = false;         ///< `isOver` ended it
};

/// Runs with seeds, temperatures and prices of their own; large graphs get one long run. A move
/// shifts an execution to another place, replays one before a later reader, alone or with what it
/// lacks, or takes a replay back; what exceeds the budget costs, too, and less and less of what
/// makes a schedule worse is accepted. The result depends on the problem and the options alone. The
/// problem must be valid. A move that is rejected costs as many steps as places it would touch, one
/// that is made up to as many as there are executions.
Annealed anneal(const Problem &problem, int64_t budget, const AnnealOptions &options = {});

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H
