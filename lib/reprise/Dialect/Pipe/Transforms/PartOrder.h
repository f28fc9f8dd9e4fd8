// reprise: the order of the ops of the parts of a model on several stages
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTORDER_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTORDER_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipe {

/// Sorts the ops of a flat step, so that each stage runs its passes in the order of a schedule.
/// Passes of all stages stand in one order in which every pass follows those that it waits for. An
/// op stands in its pass, or behind the ops that it reads. Ops of equal passes of all replicas
/// alternate, so that no replica waits for a whole pass of another one.
void orderParts(ProgramOp step, const pipeline::Schedule &schedule, int64_t replicas);

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_PARTORDER_H
