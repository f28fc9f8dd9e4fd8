// reprise: lower bounds of the cost of a replay and of a kept value
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"

namespace reprise::checkpoint {

/// Linear costs in seconds whose sum is never above the cost that Footprint.h defines. Each
/// operation with a replay has one. Each value that is kept for a later launch has one if it must
/// be saved or if its operation has no replay.
struct LeastCosts {
  std::vector<double> replay; // per operation
  std::vector<double> keep;   // per value
};

/// A launch, a load or a store that several replays may share is shared out among them. An
/// elementwise replay may vanish in the launch of its readers, unless all of those read memory.
/// O(operations and operands · log).
LeastCosts findLeastCosts(const Problem &problem, const Footprint &footprint);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H
