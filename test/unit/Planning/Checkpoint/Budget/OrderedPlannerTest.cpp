// reprise: tests of plans in other orders of the launches
#include "reprise/Planning/Checkpoint/Budget/OrderedPlanner.h"
#include "../LaunchLinksOf.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Makes two large values, each with one backward reader.
Case makeTwo() {
  Case given;
  given.problem.containers = {{-1}, {0}};
  int a = given.add(0, Kind::Contraction, {kAvailable}, 0, true, 100);
  int b = given.add(1, Kind::Contraction, {kAvailable}, 0, true, 100);
  for (int value : {a, b}) {
    int result = given.add(value == a ? 2 : 3, Kind::Contraction, {value}, 1, false, 8);
    given.footprint.lastOutside[result] = 4;
  }
  given.findTimes();
  return given;
}

TEST(OrderedPlanner, AnOrderSparesAReplay) {
  Case given = makeTwo();
  LaunchLinks links = linksOf(given);
  std::optional<Plan> inOrder = BudgetPlanner(given.problem, given.footprint).plan(120);
  ASSERT_TRUE(inOrder);
  EXPECT_EQ(inOrder->usage.seconds, 1);
  OrderedPlanner planner(given.problem, given.footprint, links);
  std::vector<OrderedPlan> found = planner.plan(120, {std::vector<Choice>(4, Choice::Save)});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].plan.usage.seconds, 0);
  EXPECT_EQ(found[0].plan.usage.peak, 116);
  EXPECT_TRUE(isPossible(links, found[0].order));
  EXPECT_TRUE(planner.plan(107, {std::vector<Choice>(4, Choice::Save)}).empty());
}

TEST(OrderedPlanner, TheSameChoicesInAnotherOrder) {
  Random random(5);
  int found = 0, rounds = problemCount(120);
  for (int round = 0; round < rounds; ++round) {
    Case given = round ? makeCase(random, 14, 30) : makeTwo();
    LaunchLinks links = linksOf(given);
    BudgetOptions options;
    options.evaluations = 500;
    Plan followed = BudgetPlanner(given.problem, given.footprint, options).followed();
    int64_t budget = round ? followed.usage.peak * 9 / 10 : 120;
    std::optional<OrderedPlan> plan = OrderedPlanner(given.problem, given.footprint, links, options)
                                          .order(budget, followed.choices);
    ASSERT_TRUE(plan || round);
    if (!plan)
      continue;
    ++found;
    ASSERT_EQ(plan->plan.choices, followed.choices);
    ASSERT_TRUE(isPossible(links, plan->order));
    Footprint arranged = arrange(given.footprint, links, plan->order);
    ASSERT_LE(Meter(given.problem, arranged).measure(followed.choices, 0).peak, budget);
  }
  EXPECT_GT(found, rounds / 10);
}

TEST(OrderedPlanner, PlansTakeWhatTheySay) {
  Random random(3);
  int found = 0, cheaper = 0;
  for (int round = 0; round < problemCount(120); ++round) {
    Case given = makeCase(random, 14, 30);
    LaunchLinks links = linksOf(given);
    BudgetOptions options;
    options.evaluations = 500;
    BudgetPlanner inOrder(given.problem, given.footprint, options);
    int64_t budget = inOrder.followed().usage.peak * 7 / 10;
    std::optional<Plan> plain = inOrder.plan(budget);
    std::vector<std::vector<Choice>> starts = {plain ? plain->choices : inOrder.smallest().choices};
    std::vector<OrderedPlan> plans, again;
    for (std::vector<OrderedPlan> *each : {&plans, &again})
      *each = OrderedPlanner(given.problem, given.footprint, links, options).plan(budget, starts);
    ASSERT_EQ(plans.size(), again.size());
    ASSERT_TRUE(!plans.empty() || !plain) << "round " << round;
    for (const OrderedPlan &each : plans)
      ASSERT_LE(each.plan.usage.peak, budget);
    if (plans.empty())
      continue;
    const OrderedPlan *plan = &plans[0];
    ++found;
    ASSERT_EQ(plan->order, again[0].order);
    ASSERT_EQ(plan->plan.choices, again[0].plan.choices);
    ASSERT_TRUE(isPossible(links, plan->order));
    Footprint arranged = arrange(given.footprint, links, plan->order);
    Usage usage = Meter(given.problem, arranged).measure(plan->plan.choices, budget);
    ASSERT_EQ(usage.peak, plan->plan.usage.peak) << "round " << round;
    ASSERT_EQ(usage.seconds, plan->plan.usage.seconds) << "round " << round;
    ASSERT_LE(usage.peak, budget);
    if (plain && plain->overridden == plan->plan.overridden) {
      ASSERT_LE(usage.seconds, plain->usage.seconds) << "round " << round;
    }
    cheaper += !plain || usage.seconds < plain->usage.seconds;
  }
  EXPECT_GT(found, 10);
  EXPECT_GT(cheaper, 2);
}

} // namespace
