// reprise: what choices cost, in bytes of memory and in seconds
#ifndef REPRISE_PLANNING_CHECKPOINT_SCHEDULE_METER_H
#define REPRISE_PLANNING_CHECKPOINT_SCHEDULE_METER_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

#include <memory>

namespace reprise::checkpoint {

struct Usage {
  int64_t peak = 0;   // bytes
  int peakLaunch = 0; // launch at the peak; for a peak in a replay, the launch that needs it
  double excess = 0;  // bytes beyond the budget, summed over all steps
  double seconds = 0; // that the choices add to the step
  int executions = 0; // originals and replays
};

struct MeterState;

/// Measures the schedules that choices make, as Footprint.h defines it. The problem, which must be
/// valid, and the footprint stay the caller's. Construction is O(operations and operands · log).
class Meter {
public:
  Meter(const Problem &problem, const Footprint &footprint);
  ~Meter();

  /// Measures the schedule of choices, one per value. A schedule that `ScheduleBuilder` would give
  /// up has the peak INT64_MAX. O(launches + replays + backward readers).
  Usage measure(const std::vector<Choice> &choices, int64_t budget);
  /// Returns the bytes at each launch for the last choices measured.
  const std::vector<int64_t> &profile() const;

private:
  std::unique_ptr<MeterState> state;
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_SCHEDULE_METER_H
