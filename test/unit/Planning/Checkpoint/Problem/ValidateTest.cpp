// reprise: tests of the judge of checkpoint problems and their solutions
#include "../LabelledChain.h"
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;
using Label = Problem::Label;

namespace {

class CheckpointJudge : public ::testing::Test {
protected:
  Problem problem = makeChain(3, 4, Label::PreferRecompute);
  Solution solution = followLabels(problem);

  Execution &firstReplay() {
    return *std::find_if(solution.executions.begin(), solution.executions.end(),
                         [](const Execution &execution) { return execution.replay > 0; });
  }
  /// The kind of the first defect.
  std::optional<Defect::Kind> judge() {
    auto defect = validate(problem, solution);
    return defect ? std::optional(defect->kind) : std::nullopt;
  }
};

TEST_F(CheckpointJudge, AcceptsThePlan) { EXPECT_EQ(judge(), std::nullopt); }

TEST_F(CheckpointJudge, SeesAMissingReplay) {
  solution.executions.erase(solution.executions.begin() +
                            (&firstReplay() - solution.executions.data()));
  EXPECT_EQ(judge(), Defect::Kind::Source);
}

TEST_F(CheckpointJudge, SeesAReplayTwice) {
  solution.executions.insert(
      solution.executions.begin() + (&firstReplay() - solution.executions.data()), firstReplay());
  EXPECT_EQ(judge(), Defect::Kind::Replay);
}

TEST_F(CheckpointJudge, SeesAReplayThatNobodyReads) {
  Execution unread = firstReplay();
  unread.replay = 99;
  solution.executions.push_back(unread);
  EXPECT_EQ(judge(), Defect::Kind::Replay);
}

TEST_F(CheckpointJudge, SeesAReplayBeforeItsOriginal) {
  Execution early = firstReplay();
  early.sources.assign(early.sources.size(), 0);
  solution.executions.insert(solution.executions.begin(), early);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(CheckpointJudge, SeesACotangentReplayed) {
  Execution last = solution.executions.back();
  last.replay = 1;
  solution.executions.push_back(last);
  EXPECT_EQ(judge(), Defect::Kind::Replay);
}

TEST_F(CheckpointJudge, SeesSwappedOriginals) {
  std::swap(solution.executions[1], solution.executions[2]);
  EXPECT_NE(judge(), std::nullopt);
}

TEST_F(CheckpointJudge, SeesALostOperation) {
  solution.executions.pop_back();
  EXPECT_EQ(judge(), Defect::Kind::Order);
}

TEST_F(CheckpointJudge, SeesIgnoredLabels) {
  int replayed = problem.operations[firstReplay().operation].firstResult;
  problem.values[replayed].label = Label::MustSave;
  EXPECT_EQ(judge(), Defect::Kind::Label);
  problem.values[replayed].label = Label::PreferSave;
  EXPECT_EQ(judge(), Defect::Kind::Label);
  problem.values[replayed].label = Label::PreferRecompute;
  EXPECT_EQ(judge(), std::nullopt);
  auto kept = std::find(solution.decisions.begin(), solution.decisions.end(), Decision::Kept) -
              solution.decisions.begin();
  solution.reasons[kept] = Reason::Label;
  EXPECT_EQ(judge(), Defect::Kind::Label);
  solution.reasons[kept] = Reason::BlockInput;
  problem.values[kept].label = Label::MustRecompute;
  EXPECT_EQ(judge(), Defect::Kind::Label);
}

TEST_F(CheckpointJudge, SeesFalseDecisions) {
  for (Decision &decision : solution.decisions)
    for (Decision other : {Decision::Saved, Decision::Replayed, Decision::NotNeeded}) {
      Decision right = decision;
      bool same = other == right || (other == Decision::Saved && right == Decision::Kept);
      decision = other;
      EXPECT_EQ(judge(), same ? std::nullopt : std::optional(Defect::Kind::Decision));
      decision = right;
    }
}

TEST_F(CheckpointJudge, SeesMalformedProblems) {
  auto isMalformed = [](const Problem &problem) {
    auto defect = validate(problem);
    return defect && defect->kind == Defect::Kind::Problem;
  };
  EXPECT_FALSE(isMalformed(problem));
  Problem broken = problem;
  broken.operations[0].operands = {0};
  EXPECT_TRUE(isMalformed(broken));
  broken = problem;
  broken.operations[3].container = 0;
  EXPECT_TRUE(isMalformed(broken));
  broken = problem;
  broken.containers[1].parent = 2;
  EXPECT_TRUE(isMalformed(broken));
  broken = problem;
  broken.values.pop_back();
  EXPECT_TRUE(isMalformed(broken));
}

/// Figures must be numbers: a search that compares seconds with a NaN would neither end nor answer.
TEST(CheckpointFootprint, SeesOddFigures) {
  Random random(3);
  const Case good = makeCase(random, 12, 0);
  ASSERT_FALSE(validate(good.problem, good.footprint).has_value());
  auto isRefused = [&](auto &&change) {
    Footprint bad = good.footprint;
    change(bad);
    return validate(good.problem, bad).has_value();
  };
  for (double odd : {std::nan(""), HUGE_VAL, -1.0}) {
    EXPECT_TRUE(isRefused([&](Footprint &f) { f.seconds[1] = odd; })) << odd;
    EXPECT_TRUE(isRefused([&](Footprint &f) { f.launchSeconds = odd; })) << odd;
    EXPECT_TRUE(isRefused([&](Footprint &f) { f.byteSeconds = odd; })) << odd;
  }
  EXPECT_TRUE(isRefused([](Footprint &f) { f.seconds.pop_back(); }));
  EXPECT_TRUE(isRefused([](Footprint &f) { f.isStored.pop_back(); }));
  EXPECT_TRUE(isRefused([](Footprint &f) { f.launches[0] = f.numLaunches; }));
  EXPECT_TRUE(isRefused([](Footprint &f) { f.times[0] = -1; }));
  EXPECT_TRUE(isRefused([](Footprint &f) { f.scratch.assign(f.launches.size(), -1); }));
  EXPECT_TRUE(isRefused([](Footprint &f) { f.neighbours.push_back({f.numLaunches, 9, 1}); }));
}

} // namespace
