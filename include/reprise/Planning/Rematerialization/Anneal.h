// reprise: annealing over order and replays together
#ifndef REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H
#define REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

struct AnnealOptions {
  int64_t moves = 4'000'000; ///< of all runs together: short ones first, then longer ones
  uint64_t seed = 1;
  double enough = 0; ///< the extra cost at which the search ends, such as its lower bound
};

/// The cheapest schedule found whose peak is within the budget; none if none was found. Eight runs
/// start from `inOrder`, with seeds, temperatures and prices of their own. A move shifts an
/// execution to another place, replays one before a later reader, or takes a replay back; what
/// exceeds the budget costs, too, and less and less of what makes a schedule worse is accepted. The
/// result depends on the problem and the options alone. The problem must be valid. A move costs as
/// many steps as it shifts executions.
std::optional<Schedule> anneal(const Problem &problem, int64_t budget,
                               const AnnealOptions &options = {});

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_ANNEAL_H
