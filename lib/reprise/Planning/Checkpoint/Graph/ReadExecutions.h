// reprise: executions of a graph as plans and as sequences
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_READEXECUTIONS_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_READEXECUTIONS_H

#include "../Sequence/Sequence.h"
#include "Sweep.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

namespace reprise::checkpoint {

/// Returns the sequence that runs the executions. O(executions · their number).
Sequence readExecutions(const Pieces &pieces, const Executions &executions, int64_t budget);

/// Takes back replays, the dearest first, without which the sequence still fits its budget.
void prune(Sequence &sequence);

/// Returns the plan that runs the executions, without replays that nothing reads. The usage is left
/// out. O(executions and their operands).
SequencePlan toPlan(const Problem &problem, const Executions &executions);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_READEXECUTIONS_H
