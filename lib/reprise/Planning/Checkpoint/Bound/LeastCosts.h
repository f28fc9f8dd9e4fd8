// reprise: what a replay, and a value that is kept, cost at least
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"

namespace reprise::checkpoint {

/// Linear costs that together are never more than what Footprint.h counts: of each operation that
/// has a replay, and of each value that is kept for a later launch and that must be saved or whose
/// operation has none.
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
