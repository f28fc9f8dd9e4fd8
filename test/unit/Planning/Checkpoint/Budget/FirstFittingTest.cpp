// reprise: tests of orders in which the first launch that fits runs next
#include "../../../../../lib/reprise/Planning/Checkpoint/Budget/FirstFitting.h"
#include "../LaunchLinksOf.h"
#include "reprise/Planning/Checkpoint/Schedule/Meter.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Values that are not stored have no bytes to wait for, so that a plan that saves all values is
/// measured correctly.
TEST(FirstFitting, OrdersThatSaveAllTakeNoMoreThanAsked) {
  Random random(6);
  int found = 0, lower = 0, rounds = problemCount(300);
  for (int round = 0; round < rounds; ++round) {
    Case given = makeCase(random, 16, 30, false);
    for (const Value &value : given.problem.values) {
      int &last = given.footprint.lastOutside[&value - given.problem.values.data()];
      last = last < given.footprint.times[value.operation] ? -1 : last;
    }
    LaunchLinks links = linksOf(given);
    std::vector<Choice> all(given.problem.values.size(), Choice::Save);
    ScheduleBuilder builder(given.problem);
    const Schedule &schedule = builder.build(all);
    FirstFitting fitting(given.problem, given.footprint, links, schedule);
    int64_t peak = Meter(given.problem, given.footprint).measure(all, 0).peak;
    for (int64_t part : {12, 10, 9}) {
      int64_t most = peak * part / 10;
      LaunchOrder order = fitting.find(most);
      if (order.empty())
        continue;
      ++found;
      ASSERT_TRUE(isPossible(links, order)) << "round " << round;
      Footprint arranged = arrange(given.footprint, links, order);
      int64_t taken = Meter(given.problem, arranged).measure(all, 0).peak;
      ASSERT_LE(taken, most) << "round " << round;
      lower += taken < peak;
    }
  }
  EXPECT_GT(found, rounds);
  EXPECT_GT(lower, 3);
}

/// Two large values have one reader each.
TEST(FirstFitting, AReaderComesBeforeTheNextLargeValue) {
  Case given;
  given.problem.containers = {{-1}, {0}};
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 100);
  int b = given.add(1, Kind::Contraction, {kAvailable}, 0, true, 100);
  for (int value : {a, b})
    given.footprint
        .lastOutside[given.add(value == a ? 2 : 3, Kind::Contraction, {value}, 1, false, 8)] = 4;
  given.findTimes();
  LaunchLinks links = linksOf(given);
  ScheduleBuilder builder(given.problem);
  const Schedule &schedule = builder.build(std::vector<Choice>(4, Choice::Save));
  FirstFitting fitting(given.problem, given.footprint, links, schedule);
  EXPECT_EQ(fitting.find(216), (LaunchOrder{0, 1, 2, 3}));
  EXPECT_EQ(fitting.find(120), (LaunchOrder{0, 2, 1, 3}));
  EXPECT_TRUE(fitting.find(107).empty());
}

} // namespace
