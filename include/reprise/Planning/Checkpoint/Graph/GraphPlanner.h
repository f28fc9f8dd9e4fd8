// reprise: the cheapest schedule of a graph within a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHPLANNER_H
#define REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHPLANNER_H

#include "reprise/Planning/Checkpoint/Graph/GraphBound.h"
#include "reprise/Planning/Checkpoint/Sequence/SequencePlanner.h"

namespace reprise::checkpoint {

struct GraphPlan {
  std::optional<SequencePlan> plan; ///< the cheapest plan that fits, as the judges see it
  GraphBound bound;
  int64_t lowestPeak = 0;   ///< without a plan: the smallest budget that is known to be met
  bool isTruncated = false; ///< the search was ended early
};

/// Searches in stages, each only if the earlier ones did not end at the bound: sweeps in the given
/// order; if none of them fits, searches from the end; and for up to `kAnnealed` operations
/// annealing of the order together with replays. A budget that the bound refutes takes no search.
/// Sweeps are not ended early, so that a plan that they find is found in any case. The same graph
/// and budget give the same plan, unless `isOver` ends the search. `effort` is a factor of the
/// number of moves.
GraphPlan planGraph(const Graph &graph, int64_t budget, const IsOver &isOver = nullptr,
                    double effort = 1);
inline constexpr size_t kAnnealed = 8192;

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHPLANNER_H
