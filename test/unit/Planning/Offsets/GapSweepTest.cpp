// reprise: tests of sweeps that read the deaths of the neighbours of a gap
#include "../../../../lib/reprise/Planning/Offsets/Packing.h"
#include "reprise/Support/SplitMix.h"

#include "gtest/gtest.h"
#include <algorithm>

using namespace reprise::offsets;

namespace {

constexpr int64_t kTime = 100000;

/// Makes a problem with long live ranges and the same live bytes at each time.
Problem longLives(int count, int64_t alignment) {
  reprise::SplitMix random(3);
  Problem problem;
  problem.alignment = alignment;
  for (int i = 0; i < count; ++i) {
    int64_t life = kTime / 20 + random.below(kTime / 5), first = random.below(kTime) - life / 2;
    problem.buffers.push_back(
        {std::max<int64_t>(0, first), std::min(kTime, first + life), 1 + random.below(100000)});
  }
  return problem;
}

int64_t lowest(const std::vector<Unit> &units, const std::vector<std::vector<int64_t>> &packings) {
  int64_t height = INT64_MAX;
  for (const std::vector<int64_t> &offsets : packings)
    height = std::min(height, heightOf(units, offsets));
  return height;
}

TEST(GapSweep, LeavesLessThanOtherSweeps) {
  Problem problem = longLives(2000, 1);
  std::vector<Unit> units = unitsOf(problem);
  int64_t bound = lowerBound(problem);
  std::vector<std::vector<int64_t>> plain;
  for (StackOrder order : {StackOrder::Life, StackOrder::Death, StackOrder::Birth})
    plain.push_back(sweepFromPeak(units, 1, order));
  int64_t found = lowest(units, sweepGaps(units, 1, bound, 20'000'000));
  EXPECT_GE(found, bound);
  EXPECT_LT(found - bound, (lowest(units, plain) - bound) * 3 / 4);
}

TEST(GapSweep, KeepsAlignmentAndGroups) {
  Problem problem = longLives(300, 64);
  for (size_t i = 0; i + 1 < 60; i += 2)
    problem.groups.push_back({i, i + 1});
  std::vector<Unit> units = unitsOf(problem);
  std::vector<std::vector<int64_t>> packings = sweepGaps(units, 64, 0, 1'000'000);
  EXPECT_EQ(packings.size(), 3u);
  for (const std::vector<int64_t> &offsets : packings)
    EXPECT_FALSE(validate(problem, toSolution(problem, units, offsets)));
}

TEST(GapSweep, StopsAtTheBoundAndWithoutVisits) {
  Problem problem = longLives(300, 1);
  std::vector<Unit> units = unitsOf(problem);
  EXPECT_EQ(sweepGaps(units, 1, INT64_MAX / 4, 1'000'000).size(), 1u);
  EXPECT_TRUE(sweepGaps(units, 1, 0, 0).empty());
}

} // namespace
