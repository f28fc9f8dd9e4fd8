// reprise: tests of the search for offsets below a limit that branches at the place of least choice
#include "CutArena.h"
#include "reprise/Planning/Offsets/Solve.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace reprise::offsets;

namespace {

/// Counts how many of 20 arenas, some with buffers left out, are packed.
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

// With few times and sizes no choice is forced at first: a search that only checks whether each
// section has room fails in most arenas. 16 are packed if a waiting buffer leads to any other
// buffer that could slip below it.
TEST(Probe, PacksArenasWithoutRoom) { EXPECT_GE(countPacked(1, 300, 1 << 12), 18); }

TEST(Probe, PacksAlignedArenasOfFewSizes) { EXPECT_GE(countPacked(64, 300, 1 << 14), 15); }

// With sizes of all kinds, the sums of ending and beginning buffers decide: 12 are packed without
// these sums.
TEST(Probe, PacksArenasOfManySizes) { EXPECT_GE(countPacked(1, 300, 1, 0, 60'000'000), 14); }

// Probes that do not take holes for buffers pack 7.
TEST(Probe, PacksArenasWithFewHoles) { EXPECT_GE(countPacked(1, 300, 1, 4, 60'000'000), 13); }

// Sizes are no multiples of the alignment: the topmost buffer may end unaligned, and an exchange of
// two buffers must keep this.
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
