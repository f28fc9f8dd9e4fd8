// reprise: writes a solution of a checkpoint problem into the graph.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H

#include "Plan.h"
#include "reprise/Planning/Checkpoint/Problem/Solution.h"

#include <map>

namespace reprise {

/// Ops of the program before which replays stand, by operation and number of the replay.
using ReplayPlaces = std::map<std::pair<int, int>, mlir::Operation *>;

/// Clones the ops of a scope that a valid solution replays, lets readers take the clones, and
/// writes decisions and reasons on the ops. A replay stands before the next original of the
/// solution, or before its op in `places` if that comes earlier. Originals without an id get ids
/// from `nextId` on.
void applySolution(const Scope &scope, const checkpoint::Problem &problem,
                   const checkpoint::Solution &solution, const ReplayPlaces &places,
                   int64_t &nextId);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_APPLYSOLUTION_H
