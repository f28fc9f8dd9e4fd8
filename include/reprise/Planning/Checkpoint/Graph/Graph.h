// reprise: graphs without passes, launches and labels as checkpoint problems
#ifndef REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPH_H
#define REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPH_H

#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise::checkpoint {

/// Operation of a graph.
struct GraphNode {
  double cost = 0;            ///< cost of one execution, at least 0
  std::vector<int> operands;  ///< values of earlier nodes, each once
  std::vector<int64_t> bytes; ///< bytes per result
};

/// Problem whose operations are launches of their own, in any order that the reads allow. Each read
/// may take a replay. A result that nothing reads lies in memory while its operation runs.
struct Graph {
  Problem problem;
  Footprint footprint;
  LaunchLinks links;
};

/// Returns what is wrong with costs, bytes or operands; none if the nodes make a graph.
std::optional<std::string> checkNodes(const std::vector<GraphNode> &nodes);
/// Makes a graph of nodes without a fault, which stand in an order in which they can run.
Graph makeGraph(std::vector<GraphNode> nodes);

/// Returns the bytes that lie in memory at each operation in the given order without replays.
std::vector<int64_t> findBytesInOrder(const Problem &problem);
/// Returns the bytes of operands and results of an operation, which no schedule can do without.
int64_t findBytesAtOnce(const Problem &problem, int operation);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_GRAPH_GRAPH_H
