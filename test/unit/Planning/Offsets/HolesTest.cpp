// reprise: tests of the free space of a packing, as buffers
#include "CutArena.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <tuple>

using namespace reprise::offsets;

namespace {

using Hole = std::tuple<int64_t, int64_t, int64_t>; // first, last, bytes

std::vector<Hole> holesOf(const Problem &problem, int64_t limit) {
  SearchTable table(problem);
  std::vector<Hole> holes;
  for (const Buffer &hole : findHoles(table.sections, limit))
    holes.push_back({hole.first, hole.last, hole.size});
  std::sort(holes.begin(), holes.end());
  return holes;
}

TEST(Holes, FillTheArenaAtEverySection) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Problem problem = cutArena(seed, 60, 30, 1000, 1, 10);
    SearchTable table(problem);
    std::vector<Buffer> holes = findHoles(table.sections, 1000);
    for (int64_t start : table.sections.starts) {
      int64_t live = 0;
      for (const std::vector<Buffer> &buffers : {problem.buffers, holes})
        for (const Buffer &buffer : buffers)
          live += buffer.first <= start && start <= buffer.last ? buffer.size : 0;
      EXPECT_EQ(live, 1000) << "seed " << seed << ", time " << start;
    }
  }
}

TEST(Holes, AreNoneInAFullArena) { EXPECT_TRUE(holesOf(cutArena(1, 60, 30, 1000), 1000).empty()); }

/// Returns the holes of a problem with one buffer at each time, which leaves free[time] of 100
/// bytes.
std::vector<Hole> holesOfFree(const std::vector<int64_t> &free) {
  Problem problem;
  problem.alignment = 1;
  for (int64_t time = 0; time < static_cast<int64_t>(free.size()); ++time)
    problem.buffers.push_back({time, time, 100 - free[time]});
  return holesOf(problem, 100);
}

// The hole of the allocated size ends, not the hole that began last.
TEST(Holes, EndWithTheBytesThatAreTaken) {
  EXPECT_EQ(holesOfFree({0, 5, 8, 3, 0}), (std::vector<Hole>{{1, 2, 5}, {2, 3, 3}}));
}

TEST(Holes, EndTwoByTwo) {
  EXPECT_EQ(holesOfFree({0, 3, 7, 9, 2, 0}), (std::vector<Hole>{{1, 3, 3}, {2, 3, 4}, {3, 4, 2}}));
}

TEST(Holes, EndInPartWhereNoneFits) {
  EXPECT_EQ(holesOfFree({0, 10, 4, 0}), (std::vector<Hole>{{1, 1, 6}, {1, 2, 4}}));
}

TEST(Holes, AreMultiplesOfTheAlignment) {
  Problem problem;
  problem.alignment = 16;
  problem.buffers = {{0, 0, 10}, {1, 1, 33}};
  EXPECT_EQ(holesOf(problem, 70), (std::vector<Hole>{{0, 0, 32}, {0, 1, 16}}));
}

} // namespace
