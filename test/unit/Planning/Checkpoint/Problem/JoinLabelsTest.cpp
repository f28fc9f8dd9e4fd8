// reprise: tests of labels that hold for memory
#include "../LabelledChain.h"
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Planning/Checkpoint/Problem/JoinLabels.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Fixture with a value, a view of it and a view of the view; only the last is read in the backward
/// pass.
class Views : public ::testing::Test {
protected:
  Views() {
    problem.containers = {{-1}, {0}};
    memory = addOperation(problem, 1, 0, true, {kAvailable}, Label::None);
    first = addView(memory);
    last = addView(first);
    addOperation(problem, 1, 1, false, {kAvailable, last}, Label::None);
  }

  int addView(int of, int64_t order = 0) {
    int value = addOperation(problem, 1, order, true, {of}, Label::None);
    problem.operations.back().kind = Kind::View;
    problem.values[value].root = problem.values[of].root;
    return value;
  }
  Label &label(int value) { return problem.values[value].label; }
  std::optional<LabelClash> join() { return joinLabels(problem, findViews(problem)); }

  Problem problem;
  int memory = 0, first = 0, last = 0;
};

TEST_F(Views, TakeAMust) {
  label(memory) = Label::MustRecompute;
  EXPECT_FALSE(join());
  EXPECT_EQ(label(first), Label::MustRecompute);
  EXPECT_EQ(label(last), Label::MustRecompute);
}

TEST_F(Views, GiveAMust) {
  for (Label must : {Label::MustRecompute, Label::MustSave}) {
    label(memory) = Label::PreferSave;
    label(first) = Label::None;
    label(last) = must;
    EXPECT_FALSE(join());
    EXPECT_EQ(label(memory), must);
  }
}

TEST_F(Views, OfRepeatedElementsGiveNone) {
  problem.values[first].bytes = 8;
  problem.values[last].bytes = 8;
  label(last) = Label::MustRecompute;
  EXPECT_FALSE(join());
  EXPECT_EQ(label(first), Label::MustRecompute);
  EXPECT_EQ(label(memory), Label::None);
}

TEST_F(Views, ContradictEachOther) {
  label(memory) = Label::MustRecompute;
  label(last) = Label::MustSave;
  std::optional<LabelClash> clash = join();
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->other, memory);
}

TEST_F(Views, OfAGradientFollowTheMemory) {
  int derived = addView(memory, 1);
  label(memory) = Label::MustRecompute;
  label(derived) = Label::MustSave;
  EXPECT_FALSE(join());
  EXPECT_EQ(label(derived), Label::MustRecompute);
}

TEST_F(Views, InABodyAreCopies) {
  problem.operations[1].remade = true;
  label(memory) = Label::MustRecompute;
  label(first) = Label::MustSave;
  EXPECT_FALSE(join());
  EXPECT_EQ(label(first), Label::MustSave);
  EXPECT_EQ(label(memory), Label::MustRecompute);
}

TEST_F(Views, PreferWhatTheMemoryPrefersInItsUnit) {
  label(memory) = Label::PreferRecompute;
  problem.containers.push_back({0});
  problem.operations[2].container = 2;
  EXPECT_FALSE(join());
  EXPECT_EQ(label(first), Label::PreferRecompute);
  EXPECT_EQ(label(last), Label::None);
}

TEST_F(Views, ListWhatTheyTook) {
  label(last) = Label::MustRecompute;
  std::vector<TakenLabel> taken;
  EXPECT_FALSE(joinLabels(problem, findViews(problem), &taken));
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].value, first);
  EXPECT_EQ(taken[0].from, last);
  EXPECT_EQ(taken[1].value, memory);
}

TEST_F(Views, AreJudgedByTheirMemory) {
  Solution solution = followLabels(problem);
  EXPECT_FALSE(validate(problem, solution, /*isJoined=*/true));
  label(memory) = Label::MustRecompute;
  solution.reasons[memory] = Reason::Moot;
  EXPECT_FALSE(validate(problem, solution));
  std::optional<Defect> defect = validate(problem, solution, /*isJoined=*/true);
  ASSERT_TRUE(defect);
  EXPECT_EQ(defect->kind, Defect::Kind::Label);
  EXPECT_NE(defect->message.find("memory of value 0"), std::string::npos) << defect->message;
}

TEST_F(Views, SayWhatIsHeldOfTheMemory) {
  Solution solution = followLabels(problem);
  EXPECT_EQ(solution.decisions[memory], Decision::NotNeeded);
  decideForMemory(problem, solution);
  EXPECT_EQ(solution.decisions[memory], Decision::Saved);
  EXPECT_EQ(solution.reasons[memory], Reason::Fastest);
}

/// In random problems neither the plan of the labels nor any obeying choices hold values that must
/// be recomputed.
TEST(RandomViews, NeverHoldWhatMustBeRecomputed) {
  Random random(7);
  int joined = 0;
  for (int i = 0; i < problemCount(300); ++i) {
    Case made = makeCase(random, 20, /*labels=*/60);
    if (joinLabels(made.problem, findViews(made.problem)))
      continue;
    ++joined;
    EXPECT_FALSE(validate(made.problem, followLabels(made.problem), /*isJoined=*/true));
    ScheduleBuilder builder(made.problem);
    Solution chosen = describe(made.problem, builder.build(pickChoices(random, made.problem)));
    auto defect = validate(made.problem, chosen, /*isJoined=*/true);
    EXPECT_FALSE(defect) << (defect ? defect->message : "");
  }
  EXPECT_GT(joined, 100);
}

} // namespace
