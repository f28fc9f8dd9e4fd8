// reprise: tests of the checkpoint problem, its judge, and the plan that follows the labels
#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "reprise/Planning/Checkpoint/Schedule/CutRun.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace reprise::checkpoint;
using Container = Problem::Container;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

int addOperation(Problem &problem, int container, int64_t order, bool primal,
                 std::vector<int> operands, Label label, int results = 1) {
  Operation op;
  op.container = container;
  op.order = order;
  op.primal = primal;
  op.operands = std::move(operands);
  op.firstResult = static_cast<int>(problem.values.size());
  op.numResults = results;
  op.flops = 1;
  for (int i = 0; i < results; ++i) {
    Value value;
    value.operation = static_cast<int>(problem.operations.size());
    value.bytes = 4;
    value.root = static_cast<int>(problem.values.size());
    value.label = label;
    problem.values.push_back(value);
  }
  problem.operations.push_back(op);
  return op.firstResult;
}

/// `blocks` blocks of `length` operations in a chain, then a loss, then the backward pass, in which
/// the cotangent of every operation reads its operand.
Problem makeChain(int blocks, int length, Label label) {
  Problem problem;
  problem.containers.push_back({-1});
  std::vector<int> inputs, containers;
  int value = kAvailable;
  for (int block = 0; block <= blocks; ++block) {
    problem.containers.push_back({0});
    bool isLoss = block == blocks;
    for (int i = 0; i < (isLoss ? 1 : length); ++i) {
      inputs.push_back(value);
      containers.push_back(block + 1);
      value = addOperation(problem, block + 1, 0, true, {value}, isLoss ? Label::None : label);
    }
  }
  int cotangent = kAvailable;
  for (size_t i = inputs.size(); i-- > 0;)
    cotangent = addOperation(problem, containers[i], 1, false, {cotangent, inputs[i]}, Label::None);
  return problem;
}

/// The largest sum of bytes that are live at once.
int64_t findPeak(const Problem &problem, const Solution &solution) {
  std::vector<std::pair<size_t, int64_t>> ends;
  std::map<std::pair<int, int>, size_t> lastUse;
  for (size_t i = 0; i < solution.executions.size(); ++i) {
    const Execution &execution = solution.executions[i];
    const Operation &op = problem.operations[execution.operation];
    lastUse[{execution.operation, execution.replay}] = i;
    for (size_t o = 0; o < op.operands.size(); ++o)
      if (op.operands[o] != kAvailable)
        lastUse[{problem.values[op.operands[o]].operation, execution.sources[o]}] = i;
  }
  std::vector<int64_t> change(solution.executions.size() + 1);
  for (size_t i = 0; i < solution.executions.size(); ++i) {
    const Execution &execution = solution.executions[i];
    int64_t bytes = 4 * problem.operations[execution.operation].numResults;
    change[i] += bytes;
    change[lastUse[{execution.operation, execution.replay}] + 1] -= bytes;
  }
  int64_t live = 0, peak = 0;
  for (int64_t delta : change)
    peak = std::max(peak, live += delta);
  return peak;
}

size_t countReplays(const Solution &solution) {
  return std::count_if(solution.executions.begin(), solution.executions.end(),
                       [](const Execution &execution) { return execution.replay > 0; });
}

TEST(CheckpointPlan, RecomputeAllLowersThePeak) {
  Problem save = makeChain(16, 16, Label::PreferSave),
          again = makeChain(16, 16, Label::PreferRecompute);
  Solution saved = followLabels(save), replayed = followLabels(again);
  ASSERT_FALSE(validate(save, saved));
  ASSERT_FALSE(validate(again, replayed));
  EXPECT_EQ(countReplays(saved), 0u);
  // All values of a block but its last, which is the next block's input.
  EXPECT_EQ(countReplays(replayed), 16u * 15u);
  EXPECT_GE(findPeak(save, saved), 4 * 256);
  EXPECT_LE(findPeak(again, replayed), 4 * (16 + 16 + 4));
}

TEST(CheckpointPlan, ReplaysDieWithTheirUnit) {
  Problem problem = makeChain(4, 4, Label::PreferRecompute);
  Solution solution = followLabels(problem);
  for (const Execution &execution : solution.executions)
    for (size_t o = 0; o < execution.sources.size(); ++o) {
      if (execution.sources[o] == 0)
        continue;
      const Operation &reader = problem.operations[execution.operation];
      int definition = problem.values[reader.operands[o]].operation;
      EXPECT_EQ(reader.container, problem.operations[definition].container);
    }
}

/// A value and three readers in the backward pass, one unit; the last is in another body.
static Problem makeBodies() {
  Problem problem;
  problem.containers = {{-1}, {0}};
  int input = addOperation(problem, 1, 0, true, {kAvailable}, Label::None);
  int value = addOperation(problem, 1, 0, true, {input}, Label::MustRecompute);
  for (int body : {1, 1, 2}) {
    addOperation(problem, 1, 1, false, {value}, Label::None);
    problem.operations.back().body = body;
  }
  return problem;
}

TEST(CheckpointPlan, BodiesShareNoReplays) {
  Problem problem = makeBodies();
  Solution solution = followLabels(problem, 1);
  EXPECT_EQ(validate(problem, solution), std::nullopt);
  EXPECT_EQ(countReplays(solution), 2u);
  for (Operation &op : problem.operations)
    op.body = 0;
  Solution shared = followLabels(problem, 1);
  EXPECT_EQ(countReplays(shared), 1u);
  auto defect = validate(makeBodies(), shared);
  ASSERT_TRUE(defect);
  EXPECT_EQ(defect->kind, Defect::Kind::Source);
}

TEST(CheckpointPlan, ReplaysMakeViewsOfBodiesAgain) {
  for (bool remade : {false, true}) {
    Problem problem;
    problem.containers = {{-1}, {0}};
    int source = addOperation(problem, 1, 0, true, {kAvailable}, Label::None);
    int view = addOperation(problem, 1, 0, true, {source}, Label::None);
    problem.operations.back().kind = Kind::View;
    problem.operations.back().remade = remade;
    int value = addOperation(problem, 1, 0, true, {view}, Label::MustRecompute);
    addOperation(problem, 1, 1, false, {value}, Label::None);
    Solution solution = followLabels(problem, 1);
    EXPECT_EQ(validate(problem, solution), std::nullopt);
    EXPECT_EQ(solution.decisions[view], remade ? Decision::Replayed : Decision::Saved);
    EXPECT_EQ(solution.decisions[source], remade ? Decision::Saved : Decision::NotNeeded);
  }
}

TEST(CheckpointPlan, NumbersGoOnFromTheFirst) {
  Problem problem = makeChain(3, 3, Label::PreferRecompute);
  std::set<int> numbers;
  for (const Execution &execution : followLabels(problem, 5).executions)
    numbers.insert(execution.replay);
  EXPECT_EQ(numbers, (std::set<int>{0, 5, 6, 7}));
}

/// A random computation of up to three derivative levels in nested containers.
Problem makeRandom(uint32_t seed) {
  std::mt19937 random(seed);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  Problem problem;
  problem.containers.push_back({-1});
  int containers = 1 + pick(8);
  for (int i = 0; i < containers; ++i)
    problem.containers.push_back({pick(3) == 0 ? pick(i + 1) : 0});
  int levels = 1 + pick(3), size = 5 + pick(25), uniform = pick(8);
  for (int level = 0; level <= levels; ++level) {
    int64_t base = level == 0 ? 0 : int64_t(1) << (level - 1);
    for (int i = 0; i < size; ++i) {
      int container = 1 + (level % 2 ? size - 1 - i : i) * containers / size;
      int64_t order = base + (level == 0 ? 0 : pick(static_cast<int>(base)));
      std::vector<int> operands;
      for (int o = pick(4); o > 0; --o) {
        int known = static_cast<int>(problem.values.size());
        operands.push_back(known == 0 || pick(5) == 0 ? kAvailable
                           : pick(2)                  ? known - 1 - pick(std::min(known, 4))
                                                      : pick(known));
      }
      auto label = static_cast<Label>(uniform < 5 ? uniform : pick(5));
      int first =
          addOperation(problem, container, order, level < levels, operands, label, 1 + pick(2));
      problem.operations.back().kind = static_cast<Kind>(pick(4));
      problem.values[first].outlives = pick(12) == 0;
      problem.values[first].bytes = 1 + pick(100);
    }
  }
  return problem;
}

TEST(CheckpointPlan, RandomProblemsPassTheJudge) {
  size_t replays = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Problem problem = makeRandom(seed);
    auto malformed = validate(problem);
    ASSERT_FALSE(malformed) << "seed " << seed << ": " << malformed->message;
    Solution solution = followLabels(problem);
    auto defect = validate(problem, solution);
    ASSERT_FALSE(defect) << "seed " << seed << ": " << defect->message;
    replays += countReplays(solution);
  }
  EXPECT_GT(replays, 3000u);
}

TEST(CheckpointPlan, SameProblemSamePlan) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Problem problem = makeRandom(seed);
    Solution first = followLabels(problem), second = followLabels(problem);
    ASSERT_EQ(first.executions.size(), second.executions.size());
    for (size_t i = 0; i < first.executions.size(); ++i) {
      EXPECT_EQ(first.executions[i].operation, second.executions[i].operation);
      EXPECT_EQ(first.executions[i].sources, second.executions[i].sources);
    }
  }
}

TEST(CheckpointPlan, HundredThousandOperationsInASecond) {
  // One chain of half a block each way also shows that no recursion follows its length.
  for (auto [blocks, length] : {std::pair(1000, 50), std::pair(2, 25000)}) {
    Problem problem = makeChain(blocks, length, Label::PreferRecompute);
    auto start = std::chrono::steady_clock::now();
    Solution solution = followLabels(problem);
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    EXPECT_FALSE(validate(problem, solution));
    // Quadratic work would take minutes; the bound leaves room for slow and busy machines.
    EXPECT_LT(passed.count(), 20);
  }
}

//===-- The judge -----------------------------------------------------------------------------===//

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

//===-- Cuts ----------------------------------------------------------------------------------===//

TEST(CheckpointCut, CutsWhereLittleCrosses) {
  // Every third value is small.
  std::vector<RunValue> values;
  for (size_t i = 0; i < 9; ++i)
    values.push_back({i, i + 1, i % 3 == 2 ? 1 : 100});
  EXPECT_EQ(cutRun(9, values), (std::vector<size_t>{3, 6}));
  // The small ones move by one.
  for (size_t i = 0; i < 9; ++i)
    values[i].bytes = i % 3 == 0 ? 1 : 100;
  EXPECT_EQ(cutRun(9, values), (std::vector<size_t>{4, 7}));
}

TEST(CheckpointCut, MakesSquareRootManyUnits) {
  for (size_t length : {0, 1, 3, 4, 16, 100, 1000, 100000}) {
    std::vector<size_t> cuts = cutRun(length, {});
    EXPECT_EQ(cuts.size() + 1, std::max<size_t>(1, static_cast<size_t>(std::sqrt(length))));
    EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end()));
  }
}

} // namespace
