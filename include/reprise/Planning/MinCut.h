// reprise: minimum cuts
#ifndef REPRISE_PLANNING_MINCUT_H
#define REPRISE_PLANNING_MINCUT_H

#include "reprise/Planning/IsOver.h"

#include <vector>

namespace reprise {

/// A directed graph whose edges have capacities, and the cut of least capacity between two of its
/// nodes (Dinic, Algorithm for solution of a problem of maximum flow in networks with power
/// estimation, 1970). The same calls in the same order give the same cut.
class MinCut {
public:
  /// More than any finite capacity: no cut takes such an edge unless there is none without one.
  static constexpr double kNever = 1e300;

  int addNode();
  void addEdge(int from, int to, double capacity);
  /// The capacity of the least cut; kNever or more if there is no finite one. If \p isOver ends the
  /// search, the flow found so far, which no cut is below; then the cut is not the least one.
  double solve(int source, int sink, const IsOver &isOver = nullptr);
  /// Whether the last `solve` was ended early.
  bool isEnded() const { return ended; }
  /// After `solve`: true if the node lies on the source's side of the cut that is nearest to the
  /// source.
  bool isOnSourceSide(int node) const { return levels[node] >= 0; }

private:
  struct Edge {
    int to;
    int next; ///< of the same node; -1 for none
    double left;
  };
  bool findLevels(int source, int sink);
  double augment(int source, int sink);

  std::vector<Edge> edges; ///< each beside its reverse
  std::vector<int> first, levels, current, path;
  double smallest = 0; ///< what is left is nothing from here on
  bool ended = false;
};

} // namespace reprise

#endif // REPRISE_PLANNING_MINCUT_H
