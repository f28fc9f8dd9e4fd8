// reprise: tests of live ranges
#include "../../../../../lib/reprise/Planning/Checkpoint/Schedule/LiveRanges.h"
#include "../RandomCheckpoint.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

class LiveRangesTest : public ::testing::Test {
protected:
  LiveRangesTest() { given.problem.containers = {{-1}, {0}}; }

  LiveRange rangeOf(int value) {
    given.findTimes();
    return findLiveRanges(given.problem, given.footprint)[value];
  }

  Case given;
};

TEST_F(LiveRangesTest, ForwardAndBackwardReadersAreApart) {
  int value = given.add(0, Kind::Contraction, {kAvailable});
  given.add(1, Kind::Contraction, {value});
  given.add(2, Kind::Contraction, {value});
  given.add(4, Kind::Contraction, {value}, 1, false);
  given.add(7, Kind::Contraction, {value}, 1, false);
  LiveRange range = rangeOf(value);
  EXPECT_EQ(range.made, 0);
  EXPECT_EQ(range.lastForward, 2);
  EXPECT_EQ(range.firstBackward, 4);
  EXPECT_EQ(range.lastBackward, 7);
}

TEST_F(LiveRangesTest, AViewHandsItsReadersOn) {
  int value = given.add(0, Kind::Contraction, {kAvailable});
  int view = given.add(kNoLaunch, Kind::View, {value});
  given.add(5, Kind::Contraction, {view}, 1, false);
  EXPECT_EQ(rangeOf(value).firstBackward, 5);
  EXPECT_EQ(rangeOf(view).firstBackward, INT_MAX);
  EXPECT_EQ(findRoot(given.problem, given.footprint, view), value);
  EXPECT_TRUE(findViewed(given.problem, given.footprint)[value]);
  EXPECT_FALSE(findViewed(given.problem, given.footprint)[view]);
}

TEST_F(LiveRangesTest, WhatOutlivesIsThereForAll) {
  int value = given.add(0, Kind::Contraction, {kAvailable});
  given.add(3, Kind::Contraction, {value}, 1, false);
  given.problem.values[value].outlives = true;
  given.footprint.lastOutside[value] = 4;
  LiveRange range = rangeOf(value);
  EXPECT_EQ(range.lastForward, 4);
  EXPECT_EQ(range.lastBackward, -1);
}

TEST_F(LiveRangesTest, AnArgumentHasNoRoot) {
  int view = given.add(kNoLaunch, Kind::View, {kAvailable});
  EXPECT_EQ(findRoot(given.problem, given.footprint, view), -1);
  EXPECT_EQ(findRoot(given.problem, given.footprint, kAvailable), -1);
}

} // namespace
