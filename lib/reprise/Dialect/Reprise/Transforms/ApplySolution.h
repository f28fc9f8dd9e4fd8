// reprise: writes a solution of a checkpoint problem into the graph.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H

#include "Plan.h"
#include "reprise/Planning/Checkpoint/Problem/Solution.h"

namespace reprise {

/// Clones the ops of a scope that a valid solution replays, lets readers take the clones, and
/// writes decisions and reasons on the ops. Originals without an id get ids from `nextId` on.
void applySolution(const Scope &scope, const checkpoint::Problem &problem,
                   const checkpoint::Solution &solution, int64_t &nextId);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H
