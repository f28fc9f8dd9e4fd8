// reprise: tests of the planner's bound against dynamic programming
#include "reprise/Planning/Checkpoint/Graph/GraphBound.h"
#include "JudgeGraph.h"

#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Makes values that are all live after half of the operations, and are read once more each; `more`
/// bytes are added for a moment.
Graph knapsack(const std::vector<std::pair<double, int64_t>> &items, int64_t more) {
  Nodes nodes;
  auto add = [&](double cost, int64_t bytes, std::vector<int> operands) {
    return addOperation(nodes, cost, bytes, std::move(operands));
  };
  int last = add(0, 0, {});
  std::vector<int> values;
  for (auto [cost, bytes] : items) {
    values.push_back(add(cost, bytes, {}));
    last = add(0, 0, {last, values.back()});
  }
  last = add(0, 0, {last, add(0, more, {})});
  for (int value : values)
    last = add(0, 0, {value, last});
  return makeGraph(std::move(nodes));
}

TEST(GraphBound, TheBoundIsA01Knapsack) {
  std::mt19937_64 random(37);
  int exact = 0, rounds = 0;
  for (int count : {1, 2, 5, 10, 20, 40, 60, 300, 600}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<std::pair<double, int64_t>> items;
      int64_t total = 0;
      for (int i = 0; i < count; ++i) {
        int64_t bytes = 1 + static_cast<int64_t>(random() % 200);
        double cost = static_cast<double>(round % 2 ? bytes + 20 : 1 + random() % 100);
        items.push_back({cost, bytes});
        total += bytes;
      }
      int64_t more = 1 + total * static_cast<int64_t>(random() % 70) / 100;
      // The smallest cost, by the number of bytes that must be freed.
      std::vector<double> least(more + 1, INFINITY);
      least[0] = 0;
      for (auto [cost, bytes] : items)
        for (int64_t gone = more; gone > 0; --gone)
          least[gone] = std::min(least[gone], least[std::max<int64_t>(0, gone - bytes)] + cost);
      Graph graph = knapsack(items, more);
      auto bound = findGraphBound(graph, total);
      ASSERT_LE(bound.seconds, least.back() + 1e-6) << count;
      ASSERT_GE(bound.seconds, least.back() * 0.99) << count;
      exact += bound.seconds >= least.back() - 1e-6;
      ++rounds;
      if (bound.replays.empty())
        continue;
      double cost = 0;
      for (int operation : bound.replays)
        cost += graph.footprint.seconds[operation];
      ASSERT_NEAR(cost, bound.seconds, 1e-6);
      GraphPlan found = planGraph(graph, total, [] { return true; });
      ASSERT_TRUE(found.plan) << count;
      ASSERT_NO_FATAL_FAILURE(judge(graph, total, *found.plan, bound.seconds));
      EXPECT_NEAR(found.plan->usage.seconds, cost, 1e-6);
    }
  }
  EXPECT_GE(exact * 100, rounds * 90);
}

} // namespace
