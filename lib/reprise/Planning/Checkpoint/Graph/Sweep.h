// reprise: executes a graph in its order, giving up values and making them again
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SWEEP_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SWEEP_H

#include "reprise/Planning/Checkpoint/Graph/Graph.h"

namespace reprise::checkpoint {

/// Operations in the order in which they run. The first execution of an operation is its original,
/// and each execution reads the latest one that makes its operand.
using Executions = std::vector<int>;

/// Returns schedules within the budget that keep the order of the originals. If the next execution
/// does not fit, a sweep gives up the value that is cheapest to make again for its bytes and the
/// time until its next reader. The value is replayed before this reader, after what the replay
/// itself lacks. Sweeps weigh time in several ways; half of them keep what a replay would read.
/// If `replays` are given, as many more sweeps give up the results of these operations first.
/// O(reads · log reads) while replays are few.
std::vector<Executions> sweep(const Graph &graph, int64_t budget, const std::vector<int> &replays);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SWEEP_H
