// reprise: tests of the places at which a long run of operations is cut into units
#include "reprise/Planning/Checkpoint/Schedule/CutRun.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace reprise::checkpoint;

namespace {

TEST(CheckpointCut, CutsWhereLittleCrosses) {
  // Every third value is small.
  std::vector<RunValue> values;
  for (size_t i = 0; i < 9; ++i)
    values.push_back({i, i + 1, i % 3 == 2 ? 1 : 100});
  EXPECT_EQ(cutRun(9, values), (std::vector<size_t>{3, 6}));
  // The small values move by one.
  for (size_t i = 0; i < 9; ++i)
    values[i].bytes = i % 3 == 0 ? 1 : 100;
  EXPECT_EQ(cutRun(9, values), (std::vector<size_t>{4, 7}));
}

TEST(CheckpointCut, MakesSquareRootManyUnits) {
  for (size_t length : {0, 1, 3, 4, 16, 100, 1000, 100000}) {
    std::vector<size_t> cuts = cutRun(length, {});
    EXPECT_EQ(cuts.size() + 1, std::max<size_t>(1, static_cast<size_t>(std::sqrt(length))));
    EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
  }
}

} // namespace
