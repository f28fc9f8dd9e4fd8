// reprise: tests of repeated packing without a table of conflicts
#include "reprise/Planning/Offsets/Solve.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace reprise::offsets;

namespace {

/// Lives anywhere, sizes from 8 bytes to 128 MiB.
Problem longLives(int count) {
  std::mt19937_64 random(21);
  Problem problem;
  for (int i = 0; i < count; ++i) {
    int64_t one = random() % 20000, two = random() % 20000;
    double power = 3 + static_cast<double>(random() % 24000) / 1000;
    int64_t size = std::llround(std::exp2(power));
    problem.buffers.push_back({std::min(one, two), std::max(one, two), size});
  }
  return problem;
}

// Eight thousand long-lived buffers have 40 million pairs, too many for a table.
TEST(Scan, ImprovesSweepsWithoutATable) {
  Problem problem = longLives(8000);
  SolveOptions sweepsOnly;
  sweepsOnly.visits = 0;
  Solution before = solve(problem, sweepsOnly), after = solve(problem, limitWork(problem));
  EXPECT_FALSE(validate(problem, after));
  double bound = static_cast<double>(lowerBound(problem));
  double excess = static_cast<double>(before.height) - bound;
  EXPECT_GT(excess, 0.003 * bound);
  EXPECT_LT(static_cast<double>(after.height) - bound, 0.7 * excess);
  EXPECT_EQ(solve(problem, limitWork(problem)).offsets, after.offsets);
}

TEST(Scan, KeepsGroupsTogether) {
  Problem problem = longLives(7000);
  for (size_t i = 0; i + 1 < 1000; i += 2)
    problem.groups.push_back({i, i + 1});
  EXPECT_FALSE(validate(problem, solve(problem, limitWork(problem))));
}

} // namespace
