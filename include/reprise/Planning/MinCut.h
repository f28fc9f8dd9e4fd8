// reprise: minimum cuts
#ifndef REPRISE_PLANNING_MINCUT_H
#define REPRISE_PLANNING_MINCUT_H

#include "reprise/Planning/IsOver.h"

#include <vector>

namespace reprise {

/// Directed graph whose edges have capacities, and the cut of least capacity between two of its
/// nodes (Dinic, Algorithm for solution of a problem of maximum flow in networks with power
/// estimation, 1970). The same calls in the same order give the same cut.
class MinCut {
public:
  /// Capacity above any finite capacity: no cut contains such an edge unless there is none without
  /// it.
  static constexpr double kNever = 1e300;

  int addNode();
  void addEdge(int from, int to, double capacity);
  /// Returns the capacity of the least cut; kNever or more if there is no finite cut. If \p isOver
  /// ends the search, returns the flow found so far, a lower bound of all cuts; the cut is then not
  /// the least one.
  double solve(int source, int sink, const IsOver &isOver = nullptr);
  /// Returns whether the last `solve` was ended early.
  bool isEnded() const { return ended; }
  /// Returns, after `solve`, true if the node lies on the source's side of the cut that is nearest
  /// to the source.
  bool isOnSourceSide(int node) const { return levels[node] >= 0; }

private:
  struct Edge {
    int to;
    int next; ///< next edge of the same node; -1 for none
    double left;
  };
  bool findLevels(int source, int sink);
  double augment(int source, int sink);

  std::vector<Edge> edges; ///< edges, each beside its reverse
  std::vector<int> first, levels, current, path;
  double smallest = 0; ///< smallest capacity that does not count as 0
  bool ended = false;
};

} // namespace reprise

#endif // REPRISE_PLANNING_MINCUT_H
