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
  std::vector<double> keep;   // per value: store and load
  std::vector<double> load;   // per value: the part of `keep` that a replay for one reader spares

  struct Reader {
    int operation;
    bool isMoved; // its original may read a replay
  };
  /// Readers, through views too, of which an original or a replay may read a replay; per value that
  /// has a buffer.
  std::vector<std::vector<Reader>> readers;
  /// Per operation: buffers of other launches that a replay apart from its readers loads, and the
  /// least seconds of its store; 0 if replays of the same launch may be its only readers.
  std::vector<std::vector<int>> loads;
  std::vector<double> stores;
};

/// A launch, a load or a store that several replays may share is shared out among them. An
/// elementwise replay may vanish in the launch of its readers, unless all of those read memory.
/// O(operations and operands · log).
LeastCosts findLeastCosts(const Problem &problem, const Footprint &footprint);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_LEASTCOSTS_H
