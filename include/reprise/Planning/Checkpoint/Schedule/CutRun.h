// reprise: where a long run of operations is cut into units that can be replayed one by one
#ifndef REPRISE_PLANNING_CHECKPOINT_SCHEDULE_CUTRUN_H
#define REPRISE_PLANNING_CHECKPOINT_SCHEDULE_CUTRUN_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise::checkpoint {

/// A value that a run of operations defines.
struct RunValue {
  size_t definition = 0; // index of the operation
  size_t lastUse = 0;    // index of the last operation that reads it; the length if it leaves
  int64_t bytes = 0;
};

/// Cuts a run of `length` operations into floor(sqrt(length)) units of about equal length, each cut
/// at the frontier of its neighbourhood that the fewest bytes cross (Chen et al. 2016,
/// arXiv:1604.06174, on frontiers). Returns the first operation of every unit but the first,
/// ascending. O(length + values).
std::vector<size_t> cutRun(size_t length, const std::vector<RunValue> &values);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_SCHEDULE_CUTRUN_H
