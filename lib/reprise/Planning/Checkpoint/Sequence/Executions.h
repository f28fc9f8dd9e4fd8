// reprise: schedules and plans as sequences, and sequences as plans
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_EXECUTIONS_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_EXECUTIONS_H

#include "Sequence.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise::checkpoint {

/// Returns the sequence that runs the replays of a schedule, each as late as possible, with the
/// launches in program order. Values that only the schedule keeps inside a launch are made again.
Sequence readSchedule(const Pieces &pieces, const Schedule &schedule, int64_t budget);

/// Removes replays that nothing reads, and lets elementwise replays join launches that alone read
/// them, as the judges of solutions see it.
void settle(Sequence &sequence);

/// Returns the order of the launches.
LaunchOrder listLaunches(const Sequence &sequence);

/// Returns the executions of a sequence that differ from the program: all replays, and the
/// originals that read some of them, in their order. Launches have their numbers in program order.
std::vector<Execution> listExecutions(const Sequence &sequence);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_EXECUTIONS_H
