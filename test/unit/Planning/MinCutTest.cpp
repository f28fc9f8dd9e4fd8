// reprise: tests of minimum cuts
#include "reprise/Planning/MinCut.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace reprise;

namespace {

struct Edge {
  int from, to;
  double capacity;
};

struct Graph {
  int nodes = 2; // node 0 is the source, 1 the sink
  std::vector<Edge> edges;
};

Graph makeRandom(std::mt19937_64 &random) {
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  Graph graph;
  graph.nodes = 2 + pick(11);
  int edges = pick(4 * graph.nodes), scale = 1 + pick(100), never = pick(30);
  for (int i = 0; i < edges; ++i) {
    // Loops and parallel edges too.
    double capacity = pick(100) < never ? MinCut::kNever : pick(scale);
    graph.edges.push_back({pick(graph.nodes), pick(graph.nodes), capacity});
  }
  return graph;
}

MinCut build(const Graph &graph) {
  MinCut cut;
  for (int i = 0; i < graph.nodes; ++i)
    EXPECT_EQ(cut.addNode(), i);
  for (const Edge &edge : graph.edges)
    cut.addEdge(edge.from, edge.to, edge.capacity);
  return cut;
}

/// The capacity of the edges that leave the set of nodes.
double capacityOf(const Graph &graph, unsigned set) {
  double sum = 0;
  for (const Edge &edge : graph.edges)
    if ((set >> edge.from & 1) && !(set >> edge.to & 1))
      sum += edge.capacity;
  return sum;
}

/// The least cut that is a part of every least cut.
std::pair<double, unsigned> findLeast(const Graph &graph) {
  double least = INFINITY;
  unsigned common = 0;
  for (unsigned set = 0; set < 1u << graph.nodes; ++set) {
    if (!(set & 1) || (set & 2))
      continue;
    double capacity = capacityOf(graph, set);
    common = capacity < least ? set : capacity == least ? common & set : common;
    least = std::min(least, capacity);
  }
  return {least, common};
}

unsigned sideOf(const MinCut &cut, int nodes) {
  unsigned set = 0;
  for (int i = 0; i < nodes; ++i)
    set |= static_cast<unsigned>(cut.isOnSourceSide(i)) << i;
  return set;
}

TEST(MinCut, IsTheLeastOfAllAndNearestToTheSource) {
  std::mt19937_64 random(5);
  int infinite = 0, zero = 0;
  for (int round = 0; round < 3000; ++round) {
    Graph graph = makeRandom(random);
    auto [least, nearest] = findLeast(graph);
    MinCut cut = build(graph);
    double found = cut.solve(0, 1);
    zero += least == 0;
    if (least >= MinCut::kNever) {
      ++infinite;
      EXPECT_GE(found, MinCut::kNever) << round;
      continue;
    }
    ASSERT_EQ(found, least) << round;
    ASSERT_EQ(sideOf(cut, graph.nodes), nearest) << round;
  }
  EXPECT_GT(infinite, 20);
  EXPECT_GT(zero, 100);
  EXPECT_LT(zero, 2500);
}

TEST(MinCut, TakesFractions) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 1000; ++round) {
    Graph graph = makeRandom(random);
    for (Edge &edge : graph.edges)
      if (edge.capacity < MinCut::kNever)
        edge.capacity *= 1e-9 * static_cast<double>(1 + random() % 1000);
    double least = findLeast(graph).first;
    MinCut cut = build(graph);
    double found = cut.solve(0, 1);
    if (least >= MinCut::kNever)
      continue;
    EXPECT_NEAR(found, least, 1e-9 * least);
    EXPECT_NEAR(capacityOf(graph, sideOf(cut, graph.nodes)), least, 1e-9 * least) << round;
  }
}

TEST(MinCut, SameCallsSameCut) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Graph graph = makeRandom(random);
    MinCut first = build(graph), second = build(graph);
    EXPECT_EQ(first.solve(0, 1), second.solve(0, 1));
    EXPECT_EQ(sideOf(first, graph.nodes), sideOf(second, graph.nodes));
  }
}

TEST(MinCut, NearestToTheSource) {
  // Two cuts of the same capacity in a chain.
  MinCut cut;
  for (int i = 0; i < 4; ++i)
    cut.addNode();
  cut.addEdge(0, 2, 5);
  cut.addEdge(2, 3, 7);
  cut.addEdge(3, 1, 5);
  EXPECT_EQ(cut.solve(0, 1), 5);
  EXPECT_EQ(sideOf(cut, 4), 1u);
}

TEST(MinCut, LongChainsTakeNoStack) {
  MinCut cut;
  int nodes = 200000;
  for (int i = 0; i < nodes; ++i)
    cut.addNode();
  for (int i = 1; i < nodes; ++i)
    cut.addEdge(i - 1, i, i == nodes / 2 ? 2 : 3);
  EXPECT_EQ(cut.solve(0, nodes - 1), 2);
  EXPECT_TRUE(cut.isOnSourceSide(nodes / 2 - 1));
  EXPECT_FALSE(cut.isOnSourceSide(nodes / 2));
}

} // namespace
