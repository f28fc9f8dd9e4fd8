// reprise: tests of the tree of all orders in which given subsets lie together
#include "../../../../lib/reprise/Planning/Offsets/OrderTree.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace reprise::offsets;

namespace {

using Order = std::vector<int32_t>;

bool liesTogether(const Order &order, const std::vector<char> &isMarked) {
  auto mark = [&](int32_t leaf) { return isMarked[leaf] != 0; };
  auto first = std::find_if(order.begin(), order.end(), mark);
  auto last = std::find_if(order.rbegin(), order.rend(), mark).base();
  return std::all_of(first, last, mark);
}

std::vector<char> markSome(std::mt19937_64 &random, size_t count) {
  std::vector<char> marks(count);
  while (std::count(marks.begin(), marks.end(), 1) < 2)
    marks[random() % count] = 1;
  return marks;
}

// Each permutation is kept or dropped, subset after subset; the tree counts the kept ones and turns
// into each of them.
TEST(OrderTree, HoldsThePermutationsThatAreLeft) {
  std::mt19937_64 random(5);
  int dead = 0;
  for (int round = 0; round < 300; ++round) {
    size_t count = 3 + random() % 4;
    Order leaves(count);
    std::iota(leaves.begin(), leaves.end(), 0);
    OrderTree tree(leaves);
    std::vector<Order> left;
    do
      left.push_back(leaves);
    while (std::next_permutation(leaves.begin(), leaves.end()));
    for (int step = 0; step < 5; ++step) {
      std::vector<char> marks = markSome(random, count);
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](const Order &order) { return !liesTogether(order, marks); }),
                 left.end());
      ASSERT_EQ(tree.gather(marks), !left.empty()) << "round " << round << ", step " << step;
      if (left.empty()) {
        ++dead;
        break;
      }
      ASSERT_EQ(std::lround(std::exp(tree.freedom())), static_cast<long>(left.size()));
      for (const Order &order : left) {
        Order rank(count);
        for (size_t i = 0; i < count; ++i)
          rank[order[i]] = static_cast<int32_t>(i);
        OrderTree turned = tree;
        turned.turn(rank);
        ASSERT_EQ(turned.leaves(), order);
        ASSERT_EQ(turned.digest(), tree.digest());
      }
    }
  }
  EXPECT_GT(dead, 0);
}

// The order 0 1 2 is fixed, because 1 and 2 are adjacent, and 0 and 1: the replacement of 1 and 2
// lies beside 0.
TEST(OrderTree, PutsLeavesIntoThePlaceOfOthers) {
  OrderTree tree({0, 1, 2, 3});
  EXPECT_TRUE(tree.gather({1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(tree.gather({0, 1, 1, 0, 0, 0}));
  tree.replace({0, 1, 1, 0, 0, 0}, {4, 5});
  EXPECT_EQ(tree.leaves().size(), 4u);
  OrderTree apart = tree;
  EXPECT_TRUE(tree.gather({1, 0, 0, 0, 1, 0}));
  EXPECT_FALSE(tree.gather({1, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(apart.gather({1, 0, 0, 1, 0, 0}) && apart.gather({0, 0, 0, 1, 1, 0}));
}

} // namespace
