// reprise: tests of plans within budgets against the optimum of larger problems
#include "../../Distances.h"
#include "../RandomCheckpoint.h"

#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Support/StableSort.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;
using reprise::test::Distances;

namespace {

/// Oracle that finds the cheapest choices within a budget by branch and bound. It first decides the
/// saved values, as MUSTs for the bound, and then how often each other value is replayed.
class Oracle {
public:
  Oracle(const Case &given, int64_t budget, double start)
      : best(start), problem(given.problem), footprint(given.footprint), budget(budget),
        builder(given.problem), meter(given.problem, given.footprint),
        free(findFree(given.problem)), choices(given.problem.values.size(), Choice::Save) {
    reprise::sortStably(
        free, [&](int a, int b) { return problem.values[a].bytes > problem.values[b].bytes; });
  }

  /// Returns false if the search takes too long; `best` is then only the cheapest plan found.
  bool solve() {
    decide(0);
    return steps < kMostSteps;
  }
  double best;

private:
  static constexpr int kMostSteps = 20'000;

  bool isDone() { return ++steps >= kMostSteps; }

  /// Returns a lower bound of the seconds of replays under these choices. An operation counts once
  /// if the number of its replays is open.
  double leastSeconds(const std::vector<bool> &isOpen) {
    const Schedule &schedule = builder.build(choices);
    std::vector<bool> isCounted(problem.operations.size());
    double seconds = 0;
    for (const Schedule::Run &run : schedule.runs) {
      if (run.replay == 0 || (isOpen[run.operation] && isCounted[run.operation]))
        continue;
      isCounted[run.operation] = true;
      seconds += footprint.seconds[run.operation];
    }
    return seconds;
  }

  void decide(size_t next) {
    if (isDone() || leastSeconds(std::vector<bool>(problem.operations.size(), true)) >= best)
      return;
    Bound bound = findBound(problem, footprint, budget);
    if (!bound.isFeasible || bound.seconds >= best * (1 + 1e-12))
      return;
    if (next == free.size())
      return settle(0);
    int value = free[next];
    for (bool isSaved : {true, false}) {
      problem.values[value].label = isSaved ? Label::MustSave : Label::MustRecompute;
      choices[value] = isSaved ? Choice::Save : Choice::Replay;
      decide(next + 1);
    }
    // The label is neither, because the value is kept for some readers only.
    problem.values[value].label = Label::None;
    choices[value] = Choice::SaveThenReplay;
    if (askers[value].size() > 1)
      decide(next + 1);
    choices[value] = Choice::Save;
  }

  void settle(size_t next) {
    while (next < free.size() && keepsOriginal(choices[free[next]]))
      ++next;
    std::vector<bool> isOpen(problem.operations.size());
    for (size_t i = next; i < free.size(); ++i)
      if (!keepsOriginal(choices[free[i]]))
        isOpen[problem.values[free[i]].operation] = true;
    if (isDone() || leastSeconds(isOpen) >= best)
      return;
    if (next == free.size()) {
      Usage usage = meter.measure(choices, budget);
      if (usage.peak <= budget)
        best = std::min(best, usage.seconds);
      return;
    }
    for (Choice choice : {Choice::Replay, Choice::ReplayPerUnit}) {
      choices[free[next]] = choice;
      settle(next + 1);
    }
    choices[free[next]] = Choice::Replay;
  }

  Problem problem; ///< problem with decisions as MUSTs
  const Footprint &footprint;
  int64_t budget;
  ScheduleBuilder builder;
  Meter meter;
  std::vector<int> free;
  std::vector<std::set<std::pair<int, int64_t>>> askers = findAskers(problem);
  std::vector<Choice> choices;
  int steps = 0;
};

Case makeFree(Random &random, int forward, bool hasTraffic) {
  CaseOptions options;
  options.forward = 2 + pick(random, forward - 1);
  options.hasTraffic = hasTraffic;
  // Bounds ignore such results, and would be judged for them.
  options.hasUnread = false;
  return CaseMaker(random, options).make();
}

TEST(CheckpointOracle, IsTheOptimumOfAllChoices) {
  Random random(61);
  int compared = 0, infeasible = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeFree(random, 9, true);
    std::vector<int> free = findFree(given.problem);
    if (free.empty() || free.size() > 6)
      continue;
    Meter meter(given.problem, given.footprint);
    std::vector<Choice> saved(given.problem.values.size(), Choice::Save);
    int64_t peak = meter.measure(saved, 0).peak;
    int64_t budget = peak * (60 + pick(random, 40)) / 100;
    double least = INFINITY;
    forEachChoices(given.problem, free, [&](const std::vector<Choice> &choices) {
      Usage usage = meter.measure(choices, budget);
      if (usage.peak <= budget)
        least = std::min(least, usage.seconds);
    });
    Oracle oracle(given, budget, INFINITY);
    ASSERT_TRUE(oracle.solve());
    ASSERT_EQ(oracle.best, least);
    ++compared;
    infeasible += std::isinf(least);
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(compared - infeasible, 30);
}

/// The planner's plan and the bound against the optimum of all choices.
void compare(const Case &given, BudgetPlanner &planner, int64_t budget, Distances &distances) {
  std::optional<Plan> plan = planner.plan(budget);
  Bound bound = findBound(given.problem, given.footprint, budget);
  ASSERT_TRUE(bound.isFeasible || !plan);
  Oracle oracle(given, budget, plan ? plan->usage.seconds : INFINITY);
  if (!oracle.solve()) {
    ++distances.open;
    return;
  }
  ++distances.solved;
  if (std::isinf(oracle.best)) {
    ++distances.refuted;
    return;
  }
  const std::vector<double> &seconds = given.footprint.seconds;
  double share = 100 / std::accumulate(seconds.begin(), seconds.end(), 0.0);
  ASSERT_LE(bound.seconds, oracle.best * (1 + 1e-9));
  distances.addBound(share * (oracle.best - bound.seconds));
  distances.missed += !plan;
  if (!plan)
    return;
  ASSERT_GE(plan->usage.seconds, oracle.best);
  distances.add(share * (plan->usage.seconds - oracle.best));
}

/// Judges as many problems as REPRISE_FUZZ_PROBLEMS says.
Distances judge(uint64_t seed, bool hasTraffic, int &rounds) {
  Random random(seed);
  Distances distances;
  rounds = problemCount(rounds);
  for (int round = 0; round < rounds;) {
    SCOPED_TRACE("round " + std::to_string(round));
    Case given = makeFree(random, 20, hasTraffic);
    BudgetPlanner planner(given.problem, given.footprint);
    int64_t budget = planner.followed().usage.peak * (60 + pick(random, 40)) / 100;
    if (planner.followed().usage.peak <= budget)
      continue;
    compare(given, planner, budget, distances);
    if (testing::Test::HasFatalFailure())
      return distances;
    ++round;
  }
  return distances;
}

/// REPRISE_FUZZ_PROBLEMS=2000 prints the figures of Budgets.md.
TEST(CheckpointOracle, JudgesThePlanner) {
  int usual = 100, rounds = usual;
  Distances distances = judge(62, false, rounds);
  if (rounds > usual)
    distances.print("plans within budgets");
  EXPECT_GT(distances.solved * 10, rounds * 8);
  EXPECT_GE(distances.optimal * 100, distances.feasible() * 95);
  EXPECT_EQ(distances.missed, 0);
  EXPECT_LT(distances.sum, 0.1 * distances.feasible());
}

/// Half of the problems have prices of launches and bytes.
TEST(CheckpointOracle, JudgesThePlannerWhereBytesHavePrices) {
  int usual = 100, rounds = usual;
  Distances distances = judge(63, true, rounds);
  if (rounds > usual)
    distances.print("plans within budgets, with prices of launches and bytes");
  EXPECT_GT(distances.solved * 10, rounds * 7);
  EXPECT_GE(distances.optimal * 100, distances.feasible() * 90);
  EXPECT_EQ(distances.missed, 0);
}

} // namespace
