// reprise: tests of plans within budgets, against enumeration, chance and the judge
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include <gtest/gtest.h>
#include <set>
#include <utility>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Overridden bytes, then seconds.
using Cost = std::pair<int64_t, double>;

Cost costOf(const Plan &plan) { return {plan.overridden, plan.usage.seconds}; }

/// Returns the bytes of values with a PREFER that the choices ignore; a value that the plan of all
/// labels keeps counts only for prefer_save.
int64_t countOverridden(const Case &given, const Plan &followed,
                        const std::vector<Choice> &choices) {
  int64_t bytes = 0;
  for (int value : findFree(given.problem)) {
    const Value &entry = given.problem.values[value];
    bool isView = given.footprint.launches[entry.operation] == kNoLaunch;
    bool wasSaved = followed.choices[value] == Choice::Save;
    bool isBroken =
        entry.label == Label::PreferSave
            ? choices[value] != Choice::Save
            : entry.label == Label::PreferRecompute && keepsOriginal(choices[value]) && !wasSaved;
    if (isBroken && !isView)
      bytes += entry.bytes;
  }
  return bytes;
}

/// Checks that a plan is valid and that its usage is correct.
void checkPlan(const Case &given, const BudgetPlanner &planner, const Plan &plan, int64_t budget) {
  ScheduleBuilder builder(given.problem);
  const Schedule &schedule = builder.build(plan.choices);
  auto defect = validate(given.problem, describe(given.problem, schedule));
  ASSERT_FALSE(defect) << defect->message;
  Usage usage = Meter(given.problem, given.footprint).measure(plan.choices, budget);
  EXPECT_LE(usage.peak, budget);
  EXPECT_EQ(usage.peak, plan.usage.peak);
  EXPECT_EQ(usage.seconds, plan.usage.seconds);
  EXPECT_EQ(plan.overridden, countOverridden(given, planner.followed(), plan.choices));
}

/// Picks a budget between the peak of the labels' plan and half of it.
int64_t pickBudget(Random &random, const BudgetPlanner &planner) {
  return planner.followed().usage.peak * (50 + pick(random, 53)) / 100;
}

BudgetOptions few(int64_t evaluations = 500) {
  BudgetOptions options;
  options.evaluations = evaluations;
  return options;
}

/// REPRISE_FUZZ_PROBLEMS=100000 takes minutes.
TEST(CheckpointBudget, EveryPlanIsOne) {
  Random random(41);
  int rounds = problemCount(1500), replayed = 0, none = 0, overridden = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 5 + pick(random, 25), 30, pick(random, 2));
    BudgetPlanner planner(given.problem, given.footprint, few());
    for (int again = 0; again < 2; ++again) {
      int64_t budget = pickBudget(random, planner);
      std::optional<Plan> plan = planner.plan(budget);
      Bound bound = findBound(given.problem, given.footprint, budget);
      none += !plan;
      if (!plan)
        continue;
      checkPlan(given, planner, *plan, budget);
      EXPECT_TRUE(bound.isFeasible);
      EXPECT_LE(bound.seconds, plan->usage.seconds * (1 + 1e-9));
      EXPECT_LE(planner.smallest().usage.peak, plan->usage.peak);
      ASSERT_FALSE(::testing::Test::HasFailure());
      replayed += plan->usage.seconds > planner.followed().usage.seconds;
      overridden += plan->overridden > 0;
    }
  }
  EXPECT_GT(replayed, rounds / 6);
  EXPECT_GT(overridden, rounds / 60);
  EXPECT_GT(none, rounds / 10);
}

TEST(CheckpointBudget, BeatsChance) {
  Random random(42);
  int better = 0, worse = 0, rounds = problemCount(400);
  for (int round = 0; round < rounds; ++round) {
    Case given = makeCase(random, 25);
    BudgetPlanner planner(given.problem, given.footprint, few(4000));
    Meter meter(given.problem, given.footprint);
    int64_t budget = pickBudget(random, planner);
    if (planner.followed().usage.peak <= budget)
      continue;
    std::optional<Plan> plan = planner.plan(budget);
    std::optional<Cost> best;
    for (int i = 0; i < 200; ++i) {
      std::vector<Choice> choices = pickChoices(random, given.problem);
      Usage usage = meter.measure(choices, budget);
      Cost cost = {countOverridden(given, planner.followed(), choices), usage.seconds};
      if (usage.peak <= budget && (!best || cost < *best))
        best = cost;
    }
    if (!best && !plan)
      continue;
    bool isWorse = best && (!plan || *best < costOf(*plan));
    worse += isWorse;
    better += plan && (!best || costOf(*plan) < *best);
  }
  // The search promises no optimum.
  EXPECT_LE(worse, better / 40);
  EXPECT_GT(better, rounds / 6);
}

/// The least cost within the budget.
std::optional<Cost> findOptimum(const Case &given, const Plan &followed, int64_t budget) {
  Meter meter(given.problem, given.footprint);
  std::optional<Cost> best;
  forEachChoices(given.problem, findFree(given.problem), [&](const std::vector<Choice> &choices) {
    Usage usage = meter.measure(choices, budget);
    if (usage.peak > budget || (best && best->second < usage.seconds && best->first == 0))
      return;
    Cost cost = {countOverridden(given, followed, choices), usage.seconds};
    if (!best || cost < *best)
      best = cost;
  });
  return best;
}

TEST(CheckpointBudget, IsTheOptimumOfSmallProblems) {
  Random random(43);
  int rounds = problemCount(1500), feasible = 0, optimal = 0, lost = 0, needless = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 9);
    if (findFree(given.problem).size() > (round % 50 == 0 ? 10 : 7))
      continue;
    BudgetPlanner planner(given.problem, given.footprint);
    int64_t budget = pickBudget(random, planner);
    if (planner.followed().usage.peak <= budget)
      continue;
    std::optional<Plan> plan = planner.plan(budget);
    std::optional<Cost> best = findOptimum(given, planner.followed(), budget);
    ASSERT_TRUE(best || !plan);
    if (!best)
      continue;
    ++feasible;
    lost += !plan;
    if (!plan)
      continue;
    ASSERT_GE(costOf(*plan), *best);
    optimal += costOf(*plan) == *best;
    needless += plan->overridden > 0 && best->first == 0;
  }
  EXPECT_GT(feasible, rounds / 10);
  EXPECT_EQ(optimal, feasible);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(needless, 0);
}

TEST(CheckpointBudget, SlowMoreBytesNeverCostMore) {
  Random random(44);
  int violations = 0, compared = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 20);
    for (bool isDescending : {false, true}) {
      BudgetPlanner planner(given.problem, given.footprint, few(2000));
      std::optional<Cost> previous;
      for (int i = 0; i < 8; ++i) {
        int share = isDescending ? 100 - 8 * i : 44 + 8 * i;
        std::optional<Plan> plan = planner.plan(planner.followed().usage.peak * share / 100);
        if (plan && plan->choices == planner.followed().choices)
          // Labels may cost more.
          continue;
        if (!plan || !previous) {
          // A plan that fits a budget fits a larger one.
          EXPECT_TRUE(isDescending || plan || !previous);
        } else if (isDescending) {
          ++compared;
          violations += *previous > costOf(*plan);
        } else {
          EXPECT_GE(*previous, costOf(*plan));
        }
        previous = plan ? std::optional(costOf(*plan)) : std::nullopt;
      }
    }
  }
  EXPECT_LE(violations, compared / 40);
}

TEST(CheckpointBudget, SameInputSameChoices) {
  Random random(45);
  for (int round = 0; round < 100; ++round) {
    Case given = makeCase(random, 20);
    BudgetPlanner first(given.problem, given.footprint, few(2000));
    BudgetPlanner second(given.problem, given.footprint, few(2000));
    for (int again = 0; again < 2; ++again) {
      int64_t budget = pickBudget(random, first);
      std::optional<Plan> a = first.plan(budget), b = second.plan(budget);
      ASSERT_EQ(a.has_value(), b.has_value());
      if (a)
        EXPECT_EQ(a->choices, b->choices);
      EXPECT_EQ(first.smallest().choices, second.smallest().choices);
    }
  }
}

TEST(CheckpointBudget, BelowTheNeedThereIsNone) {
  Random random(46);
  for (int round = 0; round < 100; ++round) {
    Case given = makeCase(random, 12);
    // Two operands are read at once.
    int launch = given.footprint.numLaunches;
    given.footprint.neighbours.push_back({0, launch, 1000});
    BudgetPlanner planner(given.problem, given.footprint, few());
    EXPECT_FALSE(planner.plan(999));
    EXPECT_GE(planner.smallest().usage.peak, 1000);
  }
}

TEST(CheckpointBudget, AnEarlyEndLeavesAPlanOrNone) {
  Random random(47);
  int found = 0, truncated = 0;
  for (int round = 0; round < 300; ++round) {
    Case given = makeCase(random, 20);
    BudgetOptions options;
    int64_t asked = 0, most = round % 3 == 0 ? 0 : pick(random, 300);
    options.isOver = [&] { return asked++ >= most; };
    BudgetPlanner planner(given.problem, given.footprint, options);
    int64_t budget = pickBudget(random, planner);
    std::optional<Plan> plan = planner.plan(budget);
    if (planner.followed().usage.peak > budget && most == 0)
      EXPECT_TRUE(planner.isTruncated());
    EXPECT_EQ(planner.isTruncated(), asked > most);
    truncated += planner.isTruncated();
    found += plan.has_value() && planner.isTruncated();
    if (plan)
      checkPlan(given, planner, *plan, budget);
  }
  EXPECT_GT(truncated, 100);
  EXPECT_GT(found, 30);
}

TEST(CheckpointBudget, WithoutNeedTheLabelsAreFollowed) {
  Random random(48);
  int open = 0, cheaper = 0;
  for (int round = 0; round < 200; ++round) {
    Case given = makeCase(random, 20);
    BudgetPlanner planner(given.problem, given.footprint, few());
    std::optional<Plan> plan = planner.plan(planner.followed().usage.peak);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->overridden, 0);
    EXPECT_LE(plan->usage.seconds, planner.followed().usage.seconds);
    if (!planner.isOpen())
      EXPECT_EQ(plan->choices, planner.followed().choices);
    open += planner.isOpen();
    cheaper += plan->usage.seconds < planner.followed().usage.seconds;
    ScheduleBuilder builder(given.problem);
    auto defect = validate(given.problem, describe(given.problem, builder.build(plan->choices)));
    EXPECT_FALSE(defect) << defect->message;
  }
  EXPECT_GT(open, 50);
  EXPECT_LT(open, 200);
  EXPECT_GT(cheaper, 10);
}

TEST(CheckpointBudget, WithAllBytesNothingIsReplayedThatNoLabelAsksFor) {
  Random random(49);
  for (int round = 0; round < 200; ++round) {
    Case given = makeCase(random, 20);
    for (Value &value : given.problem.values)
      value.label = Label::None;
    given.footprint.launchSeconds = given.footprint.byteSeconds = 0;
    BudgetPlanner planner(given.problem, given.footprint, few());
    std::optional<Plan> plan = planner.plan(INT64_MAX);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->usage.seconds, 0);
  }
}

/// Two units read a value in the backward pass, and there is no room for the value between them.
TEST(CheckpointBudget, KeepsForTheFirstReaderAndMakesAgainForTheLater) {
  Case given;
  given.problem.containers = {{-1}, {0}, {0}};
  int value = given.add(0, Kind::Other, {kAvailable}, 0, true, 10);
  int loss = given.add(1, Kind::Other, {value}, 0, true, 1);
  int first = given.add(2, Kind::Other, {value, loss}, 1, false, 1);
  int between = given.add(3, Kind::Other, {first}, 1, false, 1);
  given.add(4, Kind::Other, {value, between}, 1, false, 1);
  given.problem.operations[4].container = 1;
  given.footprint.neighbours.push_back({3, 3, 10});
  given.findTimes();
  BudgetPlanner planner(given.problem, given.footprint);
  std::optional<Plan> plan = planner.plan(12);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choices[value], Choice::SaveThenReplay);
  EXPECT_EQ(plan->usage.seconds, 1);
  EXPECT_EQ(planner.followed().usage.peak, 22);
}

Case makeLarge(Random &random, int forward) {
  CaseOptions options;
  options.forward = forward;
  options.hasTraffic = false;
  return CaseMaker(random, options).make();
}

/// A buffer that no choice moves must not make plans dearer: annealing could otherwise exceed the
/// budget for next to nothing. The search promises no optimum, so the test compares sums.
TEST(CheckpointBudget, ABufferThatNoChoiceMovesMakesNoPlanDearer) {
  Random random(50);
  double alone = 0, beside = 0;
  for (int round = 0; round < 30; ++round) {
    Case given = makeLarge(random, 30);
    int64_t budget = 0, bytes = 1'000'000;
    std::optional<Plan> plan, other;
    {
      BudgetPlanner planner(given.problem, given.footprint);
      budget = planner.followed().usage.peak * (50 + pick(random, 40)) / 100;
      plan = planner.plan(budget);
    }
    given.footprint.neighbours.push_back({0, given.footprint.numLaunches, bytes});
    other = BudgetPlanner(given.problem, given.footprint).plan(budget + bytes);
    ASSERT_EQ(plan.has_value(), other.has_value());
    alone += plan ? plan->usage.seconds : 0;
    beside += plan ? other->usage.seconds : 0;
  }
  EXPECT_LT(beside, 1.03 * alone);
}

/// Returns whether keeping one value and replaying another one instead makes the plan cheaper.
bool isWorthAnExchange(const Case &given, const Plan &plan, int64_t budget) {
  Meter meter(given.problem, given.footprint);
  std::vector<Choice> choices = plan.choices;
  std::vector<int> free = findFree(given.problem);
  for (int kept : free)
    for (int dropped : free) {
      if (choices[kept] == Choice::Save || choices[dropped] != Choice::Save)
        continue;
      Choice before = std::exchange(choices[kept], Choice::Save);
      choices[dropped] = Choice::Replay;
      Usage usage = meter.measure(choices, budget);
      if (usage.peak <= budget && usage.seconds < plan.usage.seconds * (1 - 1e-4))
        return true;
      choices[kept] = before;
      choices[dropped] = Choice::Save;
    }
  return false;
}

/// If many values are replayed, annealing must start at a temperature no higher than the cost of a
/// replay.
TEST(CheckpointBudget, SlowLargePlansAreHardlyWorthAnExchange) {
  Random random(51);
  int worth = 0, plans = 0;
  for (int round = 0; round < 10; ++round) {
    Case given = makeLarge(random, 300);
    BudgetPlanner planner(given.problem, given.footprint);
    int64_t budget = planner.followed().usage.peak * (50 + pick(random, 40)) / 100;
    std::optional<Plan> plan = planner.plan(budget);
    if (!plan)
      continue;
    ++plans;
    worth += isWorthAnExchange(given, *plan, budget);
  }
  EXPECT_GT(plans, 7);
  EXPECT_LT(worth, 4);
}

} // namespace
