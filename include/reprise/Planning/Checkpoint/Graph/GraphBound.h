// reprise: lower bound of the cost of a graph within a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHBOUND_H
#define REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHBOUND_H

#include "reprise/Planning/Checkpoint/Graph/Graph.h"

namespace reprise::checkpoint {

struct GraphBound {
  double seconds = 0; ///< least cost of replays
  /// Bytes of the operands and results of one operation, which no schedule can do without.
  int64_t need = 0;
  /// Operations that a schedule of this cost replays, if it exists; empty if only the cost is
  /// known.
  std::vector<int> replays;
  bool isFeasible(int64_t budget) const { return need <= budget; }
};

/// Returns a bound for every order and any number of replays. At the first execution of an
/// operation t each value that ancestors of t made and descendants of t read is in memory or is
/// made again later. Whole values must free the bytes beyond the budget, which is a 0/1 knapsack.
/// The dearest t counts. Of large graphs sixteen t, or as many as `kBoundReads` reads allow, are
/// looked at, and a t with thousands of values is looked at in fractions; both only weaken the
/// bound. If some operation alone exceeds the budget, the cost is 0.
GraphBound findGraphBound(const Graph &graph, int64_t budget);
inline constexpr size_t kBoundReads = 10'000'000;

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPHBOUND_H
