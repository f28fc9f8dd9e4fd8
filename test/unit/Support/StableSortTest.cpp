// reprise: tests of the sort that keeps the order of equal elements
#include "reprise/Support/StableSort.h"
#include "reprise/Support/SplitMix.h"

#include "gtest/gtest.h"

using namespace reprise;

TEST(StableSort, EqualElementsKeepTheirOrder) {
  SplitMix random(1);
  for (int size = 0; size < 70; ++size) {
    std::vector<std::pair<int, int>> items;
    for (int place = 0; place < size; ++place)
      items.push_back({random.below(5), place});
    std::vector<std::pair<int, int>> expected = items;
    std::sort(expected.begin(), expected.end());
    sortStably(items, [](const auto &a, const auto &b) { return a.first < b.first; });
    EXPECT_EQ(items, expected) << size;
  }
}
