// reprise: tests of other orders of launches
#include "../FootprintDefinition.h"
#include "../LaunchLinksOf.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

LaunchOrder inOrder(const LaunchLinks &links) {
  LaunchOrder order(links.next.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(LaunchOrder, ProgramOrderChangesNothing) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    Case given = makeCase(random, 18, 30, false);
    LaunchLinks links = linksOf(given);
    Footprint arranged = arrange(given.footprint, links, inOrder(links));
    ASSERT_EQ(arranged.launches, given.footprint.launches);
    ASSERT_EQ(arranged.times, given.footprint.times);
    ASSERT_EQ(arranged.lastOutside, given.footprint.lastOutside);
    for (size_t i = 0; i < arranged.neighbours.size(); ++i) {
      ASSERT_EQ(arranged.neighbours[i].first, given.footprint.neighbours[i].first);
      ASSERT_EQ(arranged.neighbours[i].last, given.footprint.neighbours[i].last);
    }
  }
}

TEST(LaunchOrder, ALaunchWaitsForThoseBeforeIt) {
  LaunchLinks links;
  links.next = {{2}, {2}, {}};
  EXPECT_TRUE(isPossible(links, {0, 1, 2}));
  EXPECT_TRUE(isPossible(links, {1, 0, 2}));
  EXPECT_FALSE(isPossible(links, {1, 2, 0}));
  EXPECT_FALSE(isPossible(links, {0, 1}));
  EXPECT_FALSE(isPossible(links, {0, 0, 2}));
  EXPECT_FALSE(isPossible(links, {0, 1, 3}));
  EXPECT_FALSE(isPossible(links, {0, 1, -1}));
}

/// A meter that switches to another order and a meter that is made for this order both agree with
/// the definition.
TEST(LaunchOrder, AMeterMeasuresInIt) {
  Random random(2);
  int differ = 0, rounds = problemCount(400);
  for (int round = 0; round < rounds; ++round) {
    Case given = makeCase(random, 18, 30, false);
    LaunchLinks links = linksOf(given);
    Meter meter(given.problem, given.footprint);
    ScheduleBuilder builder(given.problem);
    std::vector<Choice> choices = pickChoices(random, given.problem);
    int64_t before = meter.measure(choices, 0).peak;
    for (int again = 0; again < 2; ++again) {
      LaunchOrder order = pickOrder(random, links);
      ASSERT_TRUE(isPossible(links, order));
      Case arranged{given.problem, arrange(given.footprint, links, order)};
      Usage usage = Meter(given.problem, arranged.footprint).measure(choices, 40);
      Usage expected = Definition(arranged, builder.build(choices)).measure(40);
      ASSERT_EQ(usage.peak, expected.peak) << "round " << round;
      ASSERT_EQ(usage.excess, expected.excess) << "round " << round;
      ASSERT_EQ(usage.seconds, expected.seconds) << "round " << round;
      differ += usage.peak != before;
    }
  }
  EXPECT_GT(differ, rounds / 5);
}

/// A step with sorted operations is an ordinary step, and has the cost of its launches in that
/// order.
TEST(LaunchOrder, OperationsFollowTheirLaunches) {
  Random random(4);
  int differ = 0, rounds = problemCount(400);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 18, 30, false);
    LaunchLinks links = linksOf(given);
    LaunchOrder order = pickOrder(random, links);
    ReorderedStep step = reorder(given.problem, given.footprint, links, order);
    ASSERT_FALSE(validate(step.problem));
    ASSERT_FALSE(validate(step.problem, step.footprint));
    for (size_t i = 0; i < step.operations.size(); ++i) {
      const Operation &own = step.problem.operations[i];
      const Operation &from = given.problem.operations[step.operations[i]];
      ASSERT_EQ(own.operands.size(), from.operands.size());
      for (size_t operand = 0; operand < own.operands.size(); ++operand) {
        int value = own.operands[operand];
        ASSERT_EQ(value == kAvailable ? kAvailable : step.values[value], from.operands[operand]);
      }
    }
    std::vector<Choice> all(given.problem.values.size(), Choice::Save), choices;
    Footprint arranged = arrange(given.footprint, links, order);
    Usage usage = Meter(step.problem, step.footprint).measure(all, 0);
    ASSERT_EQ(usage.peak, Meter(given.problem, arranged).measure(all, 0).peak);
    differ += usage.peak != Meter(given.problem, given.footprint).measure(all, 0).peak;
    for (Choice choice : pickChoices(random, step.problem))
      choices.push_back(choice);
    Solution solution = describe(step.problem, ScheduleBuilder(step.problem).build(choices));
    ASSERT_EQ(recount(step.problem, step.footprint, solution).peak,
              Meter(step.problem, step.footprint).measure(choices, 0).peak);
  }
  EXPECT_GT(differ, rounds / 5);
}

} // namespace
