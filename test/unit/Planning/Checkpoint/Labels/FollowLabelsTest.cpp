// reprise: tests of the plan that follows the labels
#include "../LabelledChain.h"

#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

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
  // All values of a block except the last are replayed; the last is the next block's input.
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
  // Two halves of one long chain also show that no recursion follows its length.
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

} // namespace
