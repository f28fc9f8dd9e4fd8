// reprise: tests of the smallest peak that a descent finds, and of searches that are ended early
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include <gtest/gtest.h>

#include <utility>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

BudgetOptions few() {
  BudgetOptions options;
  options.evaluations = 500;
  return options;
}

TEST(CheckpointDescent, ItsLeastPeakIsMetByAFreshPlanner) {
  Random random(61);
  int lower = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeCase(random, 5 + pick(random, 25), 30, pick(random, 2));
    BudgetPlanner planner(given.problem, given.footprint, few());
    int64_t labels = planner.followed().usage.peak;
    planner.plan(labels * (30 + pick(random, 60)) / 100);
    const std::vector<Plan> plans = planner.descend().plans;
    for (size_t i = 1; i < plans.size(); ++i)
      EXPECT_LT(plans[i].usage.peak, plans[i - 1].usage.peak);
    int64_t least = plans.back().usage.peak;
    lower += least < labels;
    BudgetPlanner fresh(given.problem, given.footprint, few());
    std::optional<Plan> plan = fresh.plan(least);
    ASSERT_TRUE(plan);
    EXPECT_LE(plan->usage.peak, least);
    EXPECT_EQ(fresh.descend().plans.back().usage.peak, least);
    EXPECT_LE(fresh.planLeast().usage.peak, least);
  }
  EXPECT_GT(lower, 150);
}

/// A bound proves that no plan fits, so the planner does not search.
TEST(CheckpointDescent, WhatNoPlanFitsNeedsNoSearch) {
  Random random(62);
  for (int round = 0; round < 50; ++round) {
    Case given = makeCase(random, 25);
    given.footprint.neighbours.push_back({0, given.footprint.numLaunches, 1000});
    int64_t asked = 0;
    BudgetOptions options = few();
    options.isOver = [&] { return ++asked < 0; };
    BudgetPlanner planner(given.problem, given.footprint, options);
    EXPECT_FALSE(planner.plan(999));
    EXPECT_LE(asked, 60); // steps of prices
  }
}

/// A refusal counts its steps: a budget that no plan can meet needs one descent, and no later
/// budget needs a second.
TEST(CheckpointDescent, ARefusalTakesOneDescent) {
  Random random(64);
  int64_t once = 0, again = 0, alone = 0;
  for (int round = 0; round < 40; ++round) {
    Case given = makeCase(random, 30);
    int64_t asked = 0;
    BudgetOptions options = few();
    options.isOver = [&] { return ++asked < 0; };
    descend(given.problem, given.footprint, options);
    alone += std::exchange(asked, 0);
    BudgetPlanner planner(given.problem, given.footprint, options);
    EXPECT_FALSE(planner.plan(1));
    int64_t least = planner.descend().plans.back().usage.peak;
    once += std::exchange(asked, 0);
    planner.forget();
    EXPECT_EQ(planner.smallest().usage.peak, least);
    EXPECT_FALSE(planner.plan(1));
    EXPECT_EQ(planner.descend().plans.back().usage.peak, least);
    again += asked;
  }
  EXPECT_GT(alone, 1000);
  EXPECT_LE(once, alone + alone / 4);
  EXPECT_LE(again, alone / 4);
}

/// After the time limit the work of a search does not grow with the step: the search reads the
/// clock at each step, and ends.
TEST(CheckpointDescent, ALongChainEndsWithTheLimit) {
  std::vector<int64_t> late;
  for (int size : {200, 2000}) {
    Case given;
    given.problem.containers.push_back({-1});
    int value = kAvailable;
    for (int i = 0; i < size; ++i)
      value = given.add(i, Kind::Contraction, {value});
    for (int i = size; i-- > 0;)
      value = given.add(2 * size - 1 - i, Kind::Contraction, {value, i}, 1, false);
    given.findTimes();
    late.push_back(0);
    BudgetOptions options;
    options.isOver = options.isLate = [&] { return ++late.back() > 0; };
    BudgetPlanner planner(given.problem, given.footprint, options);
    planner.plan(planner.followed().usage.peak * 6 / 10);
    planner.descend();
    EXPECT_TRUE(planner.isTruncated());
  }
  EXPECT_GT(late[0], 0);
  EXPECT_EQ(late[1], late[0]);
}

TEST(CheckpointDescent, BoundsThatAreEndedAreWeakerBounds) {
  Random random(63);
  int truncated = 0;
  for (int round = 0; round < 200; ++round) {
    Case given = makeCase(random, 25);
    BudgetPlanner planner(given.problem, given.footprint, few());
    int64_t budget = planner.followed().usage.peak * (50 + pick(random, 50)) / 100;
    int64_t left = pick(random, 20), late = 0;
    reprise::IsOver isOver = [&] { return left-- <= 0 && ++late > 0; };
    Bound whole = findBound(given.problem, given.footprint, budget);
    Bound ended = findBound(given.problem, given.footprint, budget, 4, isOver);
    EXPECT_LE(ended.seconds, whole.seconds);
    EXPECT_LE(ended.missing, whole.missing);
    EXPECT_LE(late, 1); // the search ends at the first answer
    EXPECT_EQ(ended.isTruncated, late > 0);
    truncated += ended.isTruncated;
    Bound any = findAnyOrderBound(given.problem, given.footprint, budget, 4, [] { return true; });
    EXPECT_TRUE(any.isTruncated && any.isFeasible);
    EXPECT_EQ(any.seconds, 0);
  }
  EXPECT_GT(truncated, 50);
}

} // namespace
