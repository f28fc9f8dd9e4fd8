// reprise: tests of the exact search, and of the planner of graphs against it
#include "../Distances.h"
#include "RandomGraph.h"

#include "reprise/Planning/Rematerialization/Exact.h"
#include "reprise/Planning/Rematerialization/Repair.h"
#include "reprise/Planning/Rematerialization/Solve.h"

#ifdef REPRISE_HAS_CBC
#include "CheckmateProgram.h"
#endif

#include "gtest/gtest.h"
#include <cmath>

using namespace reprise::remat;
using namespace reprise::remat::test;
using reprise::test::Distances;

namespace {

using Maker = Problem (*)(std::mt19937_64 &random, int count);

/// Picks a budget between the bytes of the largest operation and the peak of all operations in
/// order.
int64_t pickBudget(std::mt19937_64 &random, const Problem &problem) {
  int64_t peak = measure(problem, inOrder(problem)).peak, need = boundCost(problem, peak).need;
  return need + (peak - need) * static_cast<int64_t>(random() % 100) / 100;
}

/// Checks that the result, a schedule or none, is correct.
void check(const Problem &problem, int64_t budget, const Exact &found) {
  ASSERT_TRUE(found.isProved);
  ASSERT_EQ(found.schedule.has_value(), std::isfinite(found.leastCost));
  if (!found.schedule)
    return;
  auto wrong = validate(problem, *found.schedule);
  ASSERT_FALSE(wrong) << *wrong;
  Measure measured = measure(problem, *found.schedule);
  ASSERT_LE(measured.peak, budget);
  ASSERT_EQ(measured.cost, found.leastCost);
}

TEST(Exact, IsTheOptimumOfAllStates) {
  std::mt19937_64 random(51);
  int replayed = 0, infeasible = 0;
  for (Maker make : {randomProblem, sparseProblem, trainingProblem, layeredProblem}) {
    for (int round = 0; round < 300; ++round) {
      SCOPED_TRACE(round);
      Problem problem = make(random, 3 + static_cast<int>(random() % 5));
      ASSERT_FALSE(validate(problem));
      int64_t budget = pickBudget(random, problem);
      std::optional<double> optimum = findOptimum(problem, budget);
      ExactOptions options;
      if (round % 2 == 0)
        options.start = repair(problem, budget);
      Exact found = solveExactly(problem, budget, options);
      ASSERT_NO_FATAL_FAILURE(check(problem, budget, found));
      ASSERT_EQ(found.leastCost, optimum.value_or(INFINITY));
      infeasible += !optimum;
      replayed += optimum && *optimum > measure(problem, inOrder(problem)).cost;
    }
  }
  EXPECT_GT(infeasible, 20);
  EXPECT_GT(replayed, 60);
}

TEST(Exact, FreedomCostsNothing) {
  std::mt19937_64 random(52);
  int reordered = 0, unstaged = 0, repaired = 0, optimal = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    Maker make = round % 2 ? sparseProblem : trainingProblem;
    Problem problem = make(random, 6 + static_cast<int>(random() % 10));
    int64_t budget = pickBudget(random, problem);
    ExactOptions options;
    Exact any = solveExactly(problem, budget, options);
    options.orders = Orders::Given;
    Exact given = solveExactly(problem, budget, options);
    options.orders = Orders::Stages;
    Exact stages = solveExactly(problem, budget, options);
    for (const Exact &found : {any, given, stages})
      ASSERT_NO_FATAL_FAILURE(check(problem, budget, found));
    ASSERT_LE(any.leastCost, given.leastCost);
    ASSERT_LE(given.leastCost, stages.leastCost);
    reordered += any.leastCost < given.leastCost;
    unstaged += given.leastCost < stages.leastCost;
    // The repair keeps the order.
    std::optional<Schedule> schedule = repair(problem, budget);
    if (!schedule)
      continue;
    ++repaired;
    ASSERT_GE(measure(problem, *schedule).cost, given.leastCost);
    optimal += measure(problem, *schedule).cost == given.leastCost;
  }
  EXPECT_GT(reordered, 40);
  EXPECT_GT(unstaged, 2);
  EXPECT_GT(repaired, 200);
  EXPECT_GT(optimal * 2, repaired);
}

TEST(Exact, IsTheOptimumOfCheckmatesProgram) {
#ifdef REPRISE_HAS_CBC
  std::mt19937_64 random(53);
  int replayed = 0, infeasible = 0;
  const Maker makers[] = {sparseProblem, layeredProblem, trainingProblem};
  for (int round = 0; round < 45; ++round) {
    SCOPED_TRACE(round);
    Problem problem = makers[round % 3](random, 4 + static_cast<int>(random() % 6));
    int64_t budget = pickBudget(random, problem);
    ExactOptions options;
    options.orders = Orders::Stages;
    Exact found = solveExactly(problem, budget, options);
    ASSERT_NO_FATAL_FAILURE(check(problem, budget, found));
    std::optional<double> optimum = CheckmateProgram(problem, budget).solve();
    ASSERT_EQ(found.schedule.has_value(), optimum.has_value());
    infeasible += !optimum;
    if (!optimum)
      continue;
    ASSERT_NEAR(found.leastCost, *optimum, 1e-6);
    replayed += *optimum > measure(problem, inOrder(problem)).cost;
  }
  EXPECT_GT(replayed, 10);
  EXPECT_GT(infeasible, 0);
#else
  GTEST_SKIP() << "CBC was not there when this was built";
#endif
}

/// The planner's bound and answer against the optimum of any order.
void compare(const Problem &problem, int64_t budget, size_t states, Distances &distances) {
  double plain = measure(problem, inOrder(problem)).cost;
  SolveOptions without;
  without.states = 0;
  Solution solution = solve(problem, budget, without);
  ASSERT_TRUE(solution.bound.isFeasible(budget));
  ExactOptions options;
  options.start = solution.schedule;
  options.states = states;
  Exact exact = solveExactly(problem, budget, options);
  double bound = plain + solution.bound.extraCost;
  if (!exact.isProved) {
    ++distances.open;
    return;
  }
  ASSERT_NO_FATAL_FAILURE(check(problem, budget, exact));
  ++distances.solved;
  distances.refuted += !exact.schedule;
  if (!exact.schedule)
    return;
  ASSERT_LE(bound, exact.leastCost * (1 + 1e-9));
  distances.addBound(100 * (exact.leastCost - bound) / plain);
  distances.missed += !solution.schedule;
  if (!solution.schedule)
    return;
  auto wrong = validate(problem, *solution.schedule);
  ASSERT_FALSE(wrong) << *wrong;
  Measure found = measure(problem, *solution.schedule);
  ASSERT_LE(found.peak, budget);
  ASSERT_GE(found.cost, exact.leastCost);
  double above = 100 * (found.cost - exact.leastCost) / plain;
  ASSERT_LE(above, 100 * (found.cost - bound) / plain + 1e-9);
  distances.add(above);
}

struct Family {
  const char *name;
  Maker make;
  int most; ///< number of operations
};

class ExactFamilies : public ::testing::TestWithParam<Family> {};

/// REPRISE_FUZZ_PROBLEMS=2000, for all families together, takes half an hour and prints the figures
/// of Rematerialization.md.
TEST_P(ExactFamilies, JudgeThePlanner) {
  int usual = 60, rounds = problemCount(usual) / 4;
  size_t states = rounds > usual ? 2'000'000 : 50'000;
  std::mt19937_64 random(54);
  Distances distances;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    Problem problem =
        GetParam().make(random, 2 + static_cast<int>(random() % (GetParam().most - 1)));
    ASSERT_NO_FATAL_FAILURE(compare(problem, pickBudget(random, problem), states, distances));
  }
  if (rounds > usual)
    distances.print(GetParam().name);
  int feasible = distances.feasible();
  EXPECT_GT(distances.solved * 10, rounds * 6);
  EXPECT_GT(distances.optimal * 10, feasible * 5);
  EXPECT_LT(distances.sum, 3.0 * feasible);
}

INSTANTIATE_TEST_SUITE_P(Exact, ExactFamilies,
                         ::testing::Values(Family{"Dense", randomProblem, 20},
                                           Family{"Sparse", sparseProblem, 40},
                                           Family{"Layered", layeredProblem, 40},
                                           Family{"Training", trainingProblem, 40}),
                         [](const auto &info) { return info.param.name; });

TEST(Exact, ProvesWhatThePlannerSays) {
  std::mt19937_64 random(55);
  int closed = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    Problem problem = trainingProblem(random, 8 + static_cast<int>(random() % 20));
    int64_t budget = pickBudget(random, problem);
    Solution solution = solve(problem, budget);
    Exact exact = solveExactly(problem, budget);
    ASSERT_NO_FATAL_FAILURE(check(problem, budget, exact));
    ASSERT_EQ(solution.schedule.has_value(), exact.schedule.has_value());
    ASSERT_EQ(solution.isRefuted, !exact.schedule);
    if (!exact.schedule)
      continue;
    double plain = measure(problem, inOrder(problem)).cost;
    ASSERT_EQ(measure(problem, *solution.schedule).cost, exact.leastCost);
    ASSERT_NEAR(plain + solution.bound.extraCost, exact.leastCost, 1e-9 * plain);
    closed += boundCost(problem, budget).extraCost < solution.bound.extraCost;
  }
  EXPECT_GT(closed, 10);
}

TEST(Exact, AnEarlyEndLeavesABound) {
  std::mt19937_64 random(56);
  int cut = 0, cheaper = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    Problem problem = sparseProblem(random, 16);
    int64_t budget = pickBudget(random, problem);
    ExactOptions options;
    Exact whole = solveExactly(problem, budget, options);
    ASSERT_NO_FATAL_FAILURE(check(problem, budget, whole));
    options.start = repair(problem, budget);
    options.states = 20;
    if (round % 2)
      options.isOver = [] { return true; };
    Exact early = solveExactly(problem, budget, options);
    ASSERT_LE(early.leastCost, whole.leastCost);
    if (early.schedule) {
      ASSERT_GE(measure(problem, *early.schedule).cost, whole.leastCost);
    }
    ASSERT_TRUE(early.isProved || early.isTruncated == (round % 2 == 1));
    ASSERT_TRUE(!early.isProved || early.leastCost == whole.leastCost);
    cut += !early.isProved;
    cheaper += early.leastCost < whole.leastCost;
  }
  EXPECT_GT(cut, 20);
  EXPECT_GT(cheaper, 10);
}

} // namespace
