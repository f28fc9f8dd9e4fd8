// reprise: tests of sweeps over an arena whose holes are tiles
#include "../../../../lib/reprise/Planning/Offsets/Tiles.h"
#include "CutArena.h"

#include "gtest/gtest.h"

using namespace reprise::offsets;

namespace {

bool isPacked(const Problem &problem, int64_t capacity, int sweeps) {
  SearchTable table(problem);
  Tiles tiles(table.sections, capacity);
  std::vector<int64_t> offsets;
  int64_t visits = 20'000'000;
  for (int i = 0; i < sweeps && visits > 0; ++i) {
    if (!tiles.find(20, visits, offsets))
      continue;
    Solution solution = toSolution(problem, table.units, offsets);
    EXPECT_FALSE(validate(problem, solution));
    EXPECT_LE(solution.height, capacity);
    return true;
  }
  return false;
}

/// Counts how many of 20 arenas are packed.
int countPacked(size_t count, int64_t times, size_t leftOut, int sweeps) {
  int packed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    packed += isPacked(cutArena(seed, count, times, 1 << 20, 1, leftOut), 1 << 20, sweeps);
  return packed;
}

TEST(Tiles, PacksFullArenas) { EXPECT_GE(countPacked(120, 200, 0, 2), 19); }

// Seven buffers in four moments: all end and begin at once, and lie in few orders.
TEST(Tiles, PacksSmallArenas) {
  for (uint64_t seed = 1; seed <= 300; ++seed)
    EXPECT_TRUE(isPacked(cutArena(seed, 7, 4, 9), 9, 20)) << "seed " << seed;
}

TEST(Tiles, CutsHolesWhereSweepsEnd) {
  int uncut = countPacked(300, 200, 8, 2), cut = countPacked(300, 200, 8, 30);
  EXPECT_GE(cut, 15);
  EXPECT_GT(cut, uncut);
}

// Three bytes are live at the same time, in either order; no arena of two bytes holds them.
TEST(Tiles, FindsNothingInAnArenaThatIsTooSmall) {
  Problem problem;
  problem.alignment = 1;
  problem.buffers = {{0, 1, 1}, {1, 2, 2}};
  EXPECT_FALSE(isPacked(problem, 2, 10));
  EXPECT_TRUE(isPacked(problem, 3, 10));
}

// A group whose bytes change is no tile.
TEST(Tiles, LeavesGroupsOfSeveralSizesAlone) {
  Problem problem;
  problem.alignment = 1;
  problem.buffers = {{0, 0, 1}, {1, 1, 2}};
  problem.groups = {{0, 1}};
  EXPECT_FALSE(isPacked(problem, 2, 2));
}

TEST(Tiles, AlignsOffsets) {
  Problem problem = cutArena(3, 20, 10, 64);
  for (Buffer &buffer : problem.buffers)
    buffer.size = buffer.size * 16 - 5;
  problem.alignment = 16;
  EXPECT_TRUE(isPacked(problem, 64 * 16, 20));
}

} // namespace
