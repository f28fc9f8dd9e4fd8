// reprise: tests of the search for offsets below a limit that branches where there is least choice
#include "CutArena.h"
#include "reprise/Planning/Offsets/Solve.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace reprise::offsets;

namespace {

/// Of 20 arenas, some of whose buffers are left out.
int countPacked(int64_t alignment, int64_t times, int64_t step, size_t leftOut = 0,
                int64_t visits = 200'000'000) {
  int packed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Problem problem = cutArena(seed, 350, times, 1 << 20, step);
    problem.alignment = alignment;
    for (size_t i = 0; i < leftOut; ++i)
      problem.buffers.erase(problem.buffers.begin() +
                            (seed * 7919 + i * 104729) % problem.buffers.size());
    SolveOptions options;
    options.moves = 0;
    options.searchVisits = visits;
    Solution solution = solve(problem, options);
    EXPECT_FALSE(validate(problem, solution)) << "seed " << seed;
    packed += solution.height <= 1 << 20;
  }
  return packed;
}

// With few times and sizes nothing is forced at first: a search that only asks whether each section
// has room loses its way in most of them. 16 are packed where a buffer that has to wait leads to
// any other one that could slip below it.
TEST(Probe, PacksArenasWithoutRoom) { EXPECT_GE(countPacked(1, 300, 1 << 12), 18); }

TEST(Probe, PacksAlignedArenasOfFewSizes) { EXPECT_GE(countPacked(64, 300, 1 << 14), 15); }

// Sizes of all kinds tell how the buffers that end at a moment and those that begin add up: 12
// are packed without that.
TEST(Probe, PacksArenasOfManySizes) { EXPECT_GE(countPacked(1, 300, 1, 0, 60'000'000), 14); }

// Probes that do not take holes for buffers pack 7.
TEST(Probe, PacksArenasWithFewHoles) { EXPECT_GE(countPacked(1, 300, 1, 4, 60'000'000), 13); }

// Sizes that are no multiples of the alignment: the topmost may end unaligned, which no two that
// change places may lose.
TEST(Probe, FindsTheLeastHeightOfUnalignedTwins) {
  Problem problem;
  for (int64_t size : {100, 100, 164, 164})
    problem.buffers.push_back({0, 1, size});
  problem.buffers.push_back({2, 3, 600});
  SolveOptions options;
  options.moves = 0;
  options.searchVisits = 1'000'000;
  Solution solution = solve(problem, options);
  EXPECT_FALSE(validate(problem, solution));
  EXPECT_EQ(solution.height, lowerBound(problem));
}

} // namespace
