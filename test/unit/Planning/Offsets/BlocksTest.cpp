// reprise: tests of buffers that replace other buffers, and of the conclusions from such blocks
#include "../../../../lib/reprise/Planning/Offsets/Probe.h"
#include "CutArena.h"

#include "gtest/gtest.h"

using namespace reprise::offsets;

namespace {

Problem makeProblem(std::vector<Buffer> buffers) {
  Problem problem;
  problem.alignment = 1;
  problem.buffers = std::move(buffers);
  return problem;
}

TEST(Blocks, AreTheSmallestSumsThatAreAlike) {
  Problem problem =
      makeProblem({{0, 0, 3}, {0, 0, 4}, {0, 0, 20}, {0, 1, 50}, {1, 1, 7}, {1, 1, 20}});
  SearchTable table(problem);
  std::vector<Block> blocks = findBlocks(table.sections, 77);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 20);
  EXPECT_EQ(blocks[1].bytes, 7);
  EXPECT_EQ(blocks[1].ends.size(), 2u);
  EXPECT_EQ(blocks[1].begins.size(), 1u);
  EXPECT_EQ(blocks[1].others.size(), 3u);
}

// Each of the two buffers that end can be replaced by either of the two that begin.
TEST(Blocks, AreNoneWhereThereIsAChoice) {
  Problem problem = makeProblem({{0, 0, 3}, {0, 0, 3}, {0, 1, 5}, {1, 1, 3}, {1, 1, 3}});
  SearchTable table(problem);
  EXPECT_TRUE(findBlocks(table.sections, 11).empty());
}

TEST(Blocks, AreNoneWhereBytesAreLeft) {
  Problem problem = makeProblem({{0, 0, 3}, {0, 1, 5}, {1, 1, 3}});
  SearchTable table(problem);
  EXPECT_EQ(findBlocks(table.sections, 8).size(), 1u);
  EXPECT_TRUE(findBlocks(table.sections, 9).empty());
}

/// Counts how many of 40 arenas a probe packs within few nodes if it believes in `share` of the
/// blocks.
int countPacked(double share) {
  int packed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Problem problem = cutArena(seed, 250, 100, 1 << 20);
    SearchTable table(problem);
    std::vector<Block> blocks = findBlocks(table.sections, 1 << 20);
    std::vector<double> weights(table.sections.members.size(), 1);
    ProbeTurn turn{0, 600, 0};
    turn.isFirst = true;
    turn.blocks = share;
    Probe probe(table.sections, 1 << 20, blocks, turn, weights, 100'000'000);
    if (!probe.run())
      continue;
    ++packed;
    EXPECT_FALSE(validate(problem, toSolution(problem, table.units, probe.result())));
  }
  return packed;
}

TEST(Blocks, LeaveFewerNodes) { EXPECT_GT(countPacked(1), countPacked(0)); }

} // namespace
