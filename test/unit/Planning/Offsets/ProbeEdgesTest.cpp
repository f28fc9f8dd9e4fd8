// reprise: tests of the conclusions from two adjacent sections
#include "../../../../lib/reprise/Planning/Offsets/Probe.h"
#include "CutArena.h"

#include "gtest/gtest.h"
#include <algorithm>

using namespace reprise::offsets;

namespace {

/// Returns whether a probe packs a problem within `nodes` nodes.
bool isPacked(const Problem &problem, int64_t limit, int64_t nodes) {
  SearchTable table(problem);
  std::vector<double> weights(table.sections.members.size(), 1);
  ProbeTurn turn{0, nodes, 0};
  turn.isFirst = true;
  Probe probe(table.sections, limit, turn, weights, 100'000'000);
  if (!probe.run())
    return false;
  Solution solution = toSolution(problem, table.units, probe.result());
  EXPECT_FALSE(validate(problem, solution));
  EXPECT_LE(solution.height, limit);
  return true;
}

TEST(ProbeEdges, TellWhatEndsBeginsAndCrosses) {
  Problem problem;
  problem.alignment = 1;
  problem.buffers = {{0, 0, 3}, {1, 1, 4}, {0, 1, 5}, {0, 0, 6}, {1, 1, 7}};
  problem.groups = {{3, 4}}; // the group crosses the edge, and its bytes change
  SearchTable table(problem);
  ASSERT_EQ(table.sections.edges.size(), 2u);
  auto bytes = [](const std::vector<Edge::Part> &parts) {
    std::vector<int64_t> found;
    for (auto [unit, size] : parts)
      found.push_back(size);
    std::sort(found.begin(), found.end());
    return found;
  };
  const Edge &edge = table.sections.edges[1];
  EXPECT_EQ(bytes(edge.ends), (std::vector<int64_t>{3, 6}));
  EXPECT_EQ(bytes(edge.begins), (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(edge.crossing.size(), 2u);
}

// Probes without the sums of ending and beginning buffers pack 7 of the arenas within the same
// number of nodes.
TEST(ProbeEdges, LeaveFewerNodes) {
  int packed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed)
    packed += isPacked(cutArena(seed, 250, 100, 1 << 20), 1 << 20, 1000);
  EXPECT_GE(packed, 11);
}

} // namespace
