// reprise: tests of the figures of plans that a search compares
#include "../../../../../lib/reprise/Planning/Checkpoint/Budget/Evaluator.h"
#include "../RandomCheckpoint.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Makes three values with a label each; one backward reader reads each.
Case makeLabelled() {
  Case given;
  given.problem.containers = {{-1}, {0}};
  for (int i = 0; i < 3; ++i)
    given.add(i, Kind::Contraction, {kAvailable}, 0, true, 10);
  for (int i = 0; i < 3; ++i)
    given.add(3 + i, Kind::Contraction, {i}, 1, false);
  given.findTimes();
  given.problem.values[0].label = Label::MustSave;
  given.problem.values[1].label = Label::MustRecompute;
  given.problem.values[2].label = Label::PreferSave;
  return given;
}

TEST(Evaluator, LabelsAllowChoices) {
  Case given = makeLabelled();
  Evaluator evaluator(given.problem, given.footprint, {});
  evaluator.setBudget(100, /*mayOverridePrefers=*/false);
  EXPECT_TRUE(evaluator.allows(0, Choice::Save));
  EXPECT_FALSE(evaluator.allows(0, Choice::Replay));
  EXPECT_FALSE(evaluator.allows(1, Choice::Save));
  EXPECT_FALSE(evaluator.allows(1, Choice::SaveThenReplay));
  EXPECT_TRUE(evaluator.allows(1, Choice::ReplayPerUnit));
  EXPECT_FALSE(evaluator.allows(2, Choice::Replay));
  evaluator.setBudget(100, /*mayOverridePrefers=*/true);
  EXPECT_TRUE(evaluator.allows(2, Choice::Replay));
  EXPECT_FALSE(evaluator.allows(0, Choice::Replay));
  Choices choices(given.problem.values.size(), Choice::Replay);
  choices[1] = Choice::Save;
  evaluator.obey(choices);
  EXPECT_EQ(choices[0], Choice::Save);
  EXPECT_EQ(choices[1], Choice::ReplayPerUnit);
  EXPECT_EQ(choices[2], Choice::Replay);
}

TEST(Evaluator, OverriddenBytesCountFirst) {
  Case given = makeLabelled();
  Evaluator evaluator(given.problem, given.footprint, {});
  evaluator.setBudget(1000, /*mayOverridePrefers=*/true);
  Choices choices(given.problem.values.size(), Choice::Save);
  choices[1] = Choice::Replay;
  Plan obeyed = evaluator.evaluate(choices);
  choices[2] = Choice::Replay;
  Plan overridden = evaluator.evaluate(choices);
  EXPECT_EQ(obeyed.overridden, 0);
  EXPECT_EQ(overridden.overridden, 10);
  EXPECT_TRUE(evaluator.isBetter(obeyed, overridden));
  EXPECT_FALSE(evaluator.isBetter(overridden, obeyed));
  // A plan that fits is better than a plan that obeys.
  evaluator.setBudget(obeyed.usage.peak - 1, /*mayOverridePrefers=*/true);
  overridden.usage.peak = obeyed.usage.peak - 1;
  EXPECT_TRUE(evaluator.isBetter(overridden, obeyed));
}

TEST(Evaluator, SortsTheBestFirstAndKeepsTheSmallest) {
  Case given = makeLabelled();
  Evaluator evaluator(given.problem, given.footprint, {});
  evaluator.setBudget(1000, /*mayOverridePrefers=*/true);
  Choices choices(given.problem.values.size(), Choice::Save);
  Plan all = evaluator.evaluate(choices);
  choices[1] = choices[2] = Choice::Replay;
  Plan few = evaluator.evaluate(choices);
  EXPECT_EQ(evaluator.smallest().usage.peak, few.usage.peak);
  EXPECT_LT(few.usage.peak, all.usage.peak);
  std::vector<Plan> plans = {few, all};
  sortPlans(evaluator, plans);
  EXPECT_EQ(plans[0].usage.seconds, all.usage.seconds);
  evaluator.setBudget(few.usage.peak, /*mayOverridePrefers=*/true);
  sortPlans(evaluator, plans);
  EXPECT_EQ(plans[0].usage.peak, few.usage.peak);
}

TEST(Evaluator, EndsWhenNothingIsLeftOrTheOptionsSaySo) {
  Case given = makeLabelled();
  bool isOver = false;
  BudgetOptions options;
  options.isOver = [&] { return isOver; };
  Evaluator evaluator(given.problem, given.footprint, options);
  evaluator.allow(2);
  Choices choices(given.problem.values.size(), Choice::Save);
  evaluator.evaluate(choices);
  EXPECT_TRUE(evaluator.mayGoOn());
  evaluator.evaluate(choices);
  EXPECT_FALSE(evaluator.mayGoOn());
  EXPECT_FALSE(evaluator.isTruncated());
  evaluator.allow(2);
  isOver = true;
  EXPECT_FALSE(evaluator.mayGoOn());
  EXPECT_TRUE(evaluator.isTruncated());
}

} // namespace
