// reprise: random graphs for tests of the planner, and their optimum by a plain search
#ifndef REPRISE_TEST_PLANNING_RANDOMGRAPH_H
#define REPRISE_TEST_PLANNING_RANDOMGRAPH_H

#include "../RandomCheckpoint.h"
#include "reprise/Planning/Checkpoint/Graph/GraphPlanner.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace reprise::checkpoint::test {

using Nodes = std::vector<GraphNode>;

/// Makes operations that read a third of all values before them.
inline Nodes randomNodes(std::mt19937_64 &random, int count) {
  Nodes nodes;
  int values = 0;
  for (int i = 0; i < count; ++i) {
    GraphNode node;
    node.cost = static_cast<double>(1 + random() % 9);
    for (int value = 0; value < values; ++value)
      if (random() % 100 < 35)
        node.operands.push_back(value);
    for (int r = 0, results = random() % 5 == 0 ? 2 : 1; r < results; ++r, ++values)
      node.bytes.push_back(static_cast<int64_t>(1 + random() % 9));
    nodes.push_back(node);
  }
  return nodes;
}

/// Adds an operation with one result; returns its number.
inline int addOperation(Nodes &nodes, double cost, int64_t bytes, std::vector<int> operands) {
  nodes.push_back({cost, std::move(operands), {bytes}});
  return static_cast<int>(nodes.size()) - 1;
}

/// Adds an operation of random cost and size; `operands` may repeat.
inline int addRandom(std::mt19937_64 &random, Nodes &nodes, std::vector<int> operands) {
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  auto digit = [&] { return static_cast<int>(1 + random() % 9); };
  double cost = digit();
  return addOperation(nodes, cost, digit(), std::move(operands));
}

/// Makes operations of up to three operands, three of four of them among the last four operations.
inline Nodes sparseNodes(std::mt19937_64 &random, int count) {
  Nodes nodes;
  for (int i = 0; i < count; ++i) {
    std::vector<int> operands;
    for (size_t k = 0, reads = i == 0 ? 0 : 1 + random() % 3; k < reads; ++k) {
      int near = random() % 4 == 0 ? i : std::min(i, 4);
      operands.push_back(i - 1 - static_cast<int>(random() % static_cast<size_t>(near)));
    }
    addRandom(random, nodes, std::move(operands));
  }
  return nodes;
}

/// Makes a chain with skips, and its cotangents, which read most operands of the chain.
inline Nodes trainingNodes(std::mt19937_64 &random, int count) {
  Nodes nodes;
  std::vector<std::vector<int>> reads;
  for (int i = 0; i < (count + 1) / 2; ++i) {
    std::vector<int> operands;
    if (i > 0)
      operands.push_back(i - 1);
    if (i > 1 && random() % 3 == 0)
      operands.push_back(static_cast<int>(random() % static_cast<size_t>(i - 1)));
    reads.push_back(operands);
    addRandom(random, nodes, std::move(operands));
  }
  for (int i = count / 2; i-- > 0;) {
    std::vector<int> operands = {static_cast<int>(nodes.size()) - 1};
    for (int value : reads[i])
      if (random() % 5 != 0)
        operands.push_back(value);
    if (random() % 3 == 0)
      operands.push_back(i);
    addRandom(random, nodes, std::move(operands));
  }
  return nodes;
}

/// Makes layers of up to five operations, which read one to three values of the layer before; one
/// of eight operations reads any earlier value.
inline Nodes layeredNodes(std::mt19937_64 &random, int count) {
  Nodes nodes;
  int first = 0, last = 0; // the layer before
  while (last < count) {
    int end = std::min(count, last + 1 + static_cast<int>(random() % 5));
    for (int i = last; i < end; ++i) {
      std::vector<int> operands;
      for (size_t k = 0, reads = last == 0 ? 0 : 1 + random() % 3; k < reads; ++k)
        operands.push_back(first + static_cast<int>(random() % static_cast<size_t>(last - first)));
      if (last > 0 && random() % 8 == 0)
        operands.push_back(static_cast<int>(random() % static_cast<size_t>(last)));
      addRandom(random, nodes, std::move(operands));
    }
    first = last;
    last = end;
  }
  return nodes;
}

/// Returns the peak of all operations in the given order, without replays.
inline int64_t peakInOrder(const Graph &graph) {
  std::vector<int64_t> bytes = findBytesInOrder(graph.problem);
  return *std::max_element(bytes.begin(), bytes.end());
}

inline double totalCost(const Graph &graph) {
  return std::accumulate(graph.footprint.seconds.begin(), graph.footprint.seconds.end(), 0.0);
}

/// Returns the smallest cost of replays in any order, by Dijkstra's search over resident
/// values and executed operations; none if no schedule fits.
inline std::optional<double> findOptimum(const Graph &graph, int64_t budget) {
  const Problem &problem = graph.problem;
  using State = std::pair<uint32_t, uint32_t>; // resident values, operations that have run
  using Entry = std::pair<double, State>;
  std::map<State, double> best;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto offer = [&](double cost, State state) {
    auto [known, isNew] = best.emplace(state, cost);
    if (!isNew && known->second <= cost)
      return;
    known->second = cost;
    queue.push({cost, state});
  };
  offer(0, {0, 0});
  uint32_t all = (1u << problem.operations.size()) - 1;
  while (!queue.empty()) {
    auto [cost, state] = queue.top();
    queue.pop();
    if (state.second == all)
      return cost - totalCost(graph);
    if (best[state] < cost)
      continue;
    for (size_t v = 0; v < problem.values.size(); ++v)
      if (state.first >> v & 1)
        offer(cost, {state.first & ~(1u << v), state.second});
    for (size_t i = 0; i < problem.operations.size(); ++i) {
      const Problem::Operation &op = problem.operations[i];
      uint32_t resident = state.first;
      bool isReady = true;
      for (int value : op.operands)
        isReady &= (resident >> value & 1) != 0;
      for (int r = 0; r < op.numResults; ++r)
        resident |= 1u << (op.firstResult + r);
      int64_t bytes = 0;
      for (size_t v = 0; v < problem.values.size(); ++v)
        bytes += resident >> v & 1 ? problem.values[v].bytes : 0;
      if (isReady && bytes <= budget)
        offer(cost + graph.footprint.seconds[i], {resident, state.second | 1u << i});
    }
  }
  return std::nullopt;
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_RANDOMGRAPH_H
