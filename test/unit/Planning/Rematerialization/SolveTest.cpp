// reprise: tests of the planner of graphs, its bound and its judge
#include "RandomGraph.h"

#include "reprise/Planning/Rematerialization/Anneal.h"
#include "reprise/Planning/Rematerialization/Repair.h"
#include "reprise/Planning/Rematerialization/Solve.h"

#include "gtest/gtest.h"
#include <cmath>
#include <functional>

using namespace reprise::remat;
using namespace reprise::remat::test;

namespace {

/// Makes a problem with one result per operation.
Problem problemOf(const std::vector<std::tuple<double, int64_t, std::vector<int>>> &operations) {
  Problem problem;
  for (auto &[cost, bytes, operands] : operations) {
    int number = static_cast<int>(problem.operations.size());
    problem.operations.push_back({cost, operands, number, 1});
    problem.values.push_back({number, bytes});
  }
  return problem;
}

/// A value of 8 bytes is read at once, and again at the end; two of 4 lie between.
Problem skip() {
  return problemOf({{5, 8, {}}, {1, 4, {0}}, {1, 6, {1}}, {1, 1, {2}}, {1, 1, {0, 3}}});
}

std::optional<Schedule> search(const Problem &problem, int64_t budget, int64_t moves,
                               double enough) {
  AnnealOptions options;
  options.moves = moves;
  options.enough = enough;
  return anneal(problem, budget, options).schedule;
}

TEST(Rematerialization, MeasuresPeakAndCost) {
  Problem problem = skip();
  Measure plain = measure(problem, inOrder(problem));
  EXPECT_EQ(plain.peak, 8 + 4 + 6);
  EXPECT_EQ(plain.cost, 9);
  // The first value again, before its second reader.
  Schedule schedule = {{0, {}}, {1, {0}}, {2, {1}}, {3, {2}}, {0, {}}, {4, {4, 3}}};
  EXPECT_FALSE(validate(problem, schedule));
  EXPECT_EQ(measure(problem, schedule).peak, 8 + 4);
  EXPECT_EQ(measure(problem, schedule).cost, 14);
}

TEST(Rematerialization, ReplaysWhatTheBudgetAsksFor) {
  Problem problem = skip();
  for (auto [budget, cost] : {std::pair(18, 9.0), {17, 14.0}, {12, 14.0}}) {
    std::optional<Schedule> schedule = search(problem, budget, 20000, 0);
    ASSERT_TRUE(schedule) << budget;
    EXPECT_FALSE(validate(problem, *schedule)) << budget;
    EXPECT_LE(measure(problem, *schedule).peak, budget);
    EXPECT_EQ(measure(problem, *schedule).cost, cost) << budget;
  }
  EXPECT_FALSE(search(problem, 11, 20000, 0));
}

TEST(Rematerialization, TheBoundKnowsWhatIsNeededAtOnce) {
  EXPECT_EQ(boundCost(skip(), 11).need, 12);
  EXPECT_FALSE(boundCost(skip(), 11).isFeasible(11));
  // Five of eight bytes must be freed, which needs the whole replay.
  EXPECT_EQ(boundCost(skip(), 13).extraCost, 5);
  EXPECT_EQ(boundCost(skip(), 13).replays, std::vector<int>{0});
  EXPECT_EQ(boundCost(skip(), 18).extraCost, 0);
}

TEST(Rematerialization, AnOrderMayBeEnough) {
  // Two branches need less memory one after the other than at the same time.
  Problem problem =
      problemOf({{1, 1, {}}, {1, 9, {0}}, {1, 9, {0}}, {1, 1, {1}}, {1, 1, {2}}, {1, 1, {3, 4}}});
  EXPECT_EQ(measure(problem, inOrder(problem)).peak, 19);
  std::optional<Schedule> schedule = search(problem, 12, 20000, 0);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(measure(problem, *schedule).cost, 6);
}

TEST(Rematerialization, NeverBelowTheOptimumNorTheBoundAboveIt) {
  std::mt19937_64 random(23);
  int optimal = 0, feasible = 0, infeasible = 0, replayed = 0;
  for (int round = 0; round < 2000; ++round) {
    Problem problem = randomProblem(random, 3 + static_cast<int>(random() % 5));
    ASSERT_FALSE(validate(problem));
    int64_t peak = measure(problem, inOrder(problem)).peak;
    int64_t budget = peak * static_cast<int64_t>(75 + random() % 25) / 100;
    double plain = measure(problem, inOrder(problem)).cost;
    Bound bound = boundCost(problem, budget);
    std::optional<double> optimum = findOptimum(problem, budget);
    std::optional<Schedule> schedule = search(problem, budget, 10000, bound.extraCost);
    if (!optimum) {
      ASSERT_FALSE(schedule || repair(problem, budget)) << round;
      ++infeasible;
      continue;
    }
    ++feasible;
    replayed += *optimum > plain;
    ASSERT_TRUE(bound.isFeasible(budget)) << round;
    ASSERT_LE(plain + bound.extraCost, *optimum + 1e-9) << round;
    if (!schedule)
      continue;
    auto wrong = validate(problem, *schedule);
    ASSERT_FALSE(wrong) << *wrong;
    Measure found = measure(problem, *schedule);
    ASSERT_LE(found.peak, budget) << round;
    ASSERT_GE(found.cost, *optimum - 1e-9) << round;
    optimal += found.cost <= *optimum + 1e-9;
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(feasible, 250);
  EXPECT_GT(replayed, 25);
  EXPECT_GT(optimal * 100, feasible * 95);
}

/// Checks that a schedule is valid, within the budget, and not below the bound.
void judge(const Problem &problem, int64_t budget, const Schedule &schedule, double extraCost) {
  auto wrong = validate(problem, schedule);
  ASSERT_FALSE(wrong) << *wrong;
  Measure found = measure(problem, schedule), plain = measure(problem, inOrder(problem));
  ASSERT_LE(found.peak, budget);
  ASSERT_GE(found.cost * (1 + 1e-9), plain.cost + extraCost);
}

TEST(Rematerialization, EveryAnswerIsRight) {
  std::mt19937_64 random(31);
  int repaired = 0, annealed = 0;
  for (int round = 0, count = problemCount(3000); round < count; ++round) {
    SCOPED_TRACE(round);
    Problem problem = randomProblem(random, 1 + static_cast<int>(random() % 40));
    ASSERT_FALSE(validate(problem));
    int64_t peak = measure(problem, inOrder(problem)).peak;
    int64_t budget = peak * static_cast<int64_t>(40 + random() % 61) / 100;
    Bound bound = boundCost(problem, budget);
    std::optional<Schedule> one = repair(problem, budget);
    std::optional<Schedule> two = search(problem, budget, 1500, bound.extraCost);
    if (one)
      ASSERT_NO_FATAL_FAILURE(judge(problem, budget, *one, bound.extraCost));
    if (two)
      ASSERT_NO_FATAL_FAILURE(judge(problem, budget, *two, bound.extraCost));
    ASSERT_TRUE(bound.isFeasible(budget) || !(one || two));
    ASSERT_TRUE(one || budget < peak); // a problem that fits needs no search
    repaired += one.has_value();
    annealed += two.has_value();
  }
  EXPECT_GT(repaired, 300);
  EXPECT_GT(annealed, 300);
}

/// Makes a forward chain, and a backward chain that reads its values.
Problem trainingChain(int layers) {
  Problem problem;
  auto add = [&](double cost, int64_t bytes, std::vector<int> operands) {
    return addOperation(problem, cost, bytes, std::move(operands));
  };
  int last = add(1, 8, {});
  for (int i = 0; i < layers; ++i)
    last = add(1, 8, {last});
  for (int i = layers; i > 0; --i)
    last = add(2, 8, last == i ? std::vector<int>{i} : std::vector<int>{i, last});
  return problem;
}

TEST(Rematerialization, SlowLongChainsAreRepairedInTime) {
  Problem problem = trainingChain(50000);
  int64_t peak = measure(problem, inOrder(problem)).peak;
  for (int share : {90, 50, 10}) {
    Solution solution = solve(problem, peak * share / 100);
    ASSERT_TRUE(solution.schedule) << share;
    ASSERT_NO_FATAL_FAILURE(
        judge(problem, peak * share / 100, *solution.schedule, solution.bound.extraCost));
    // About one more run of the values that are not kept: the first half has a third of the cost.
    EXPECT_LE(measure(problem, *solution.schedule).cost, 150003 + 50000 * 2) << share;
  }
}

TEST(Rematerialization, ATimeLimitEndsTheSearch) {
  Problem problem = trainingChain(20);
  int64_t budget = measure(problem, inOrder(problem)).peak * 4 / 10;
  SolveOptions options;
  int asked = 0;
  options.isOver = [&] { return ++asked > 5; };
  Solution cut = solve(problem, budget, options), whole = solve(problem, budget);
  ASSERT_TRUE(cut.schedule && whole.schedule);
  EXPECT_TRUE(cut.isTruncated);
  EXPECT_FALSE(whole.isTruncated);
  EXPECT_EQ(asked, 6);
  EXPECT_LE(measure(problem, *whole.schedule).cost, measure(problem, *cut.schedule).cost);
  options.isOver = [] { return true; };
  std::optional<Schedule> before = repair(problem, budget);
  EXPECT_EQ(measure(problem, *before).cost,
            measure(problem, *solve(problem, budget, options).schedule).cost);
}

TEST(Rematerialization, SaysWhichBudgetIsMet) {
  // A tree of eight leaves, level by level. Depth first it needs five values at once, and no order
  // needs fewer (Paterson and Hewitt, 1970); each operation needs three.
  std::vector<std::tuple<double, int64_t, std::vector<int>>> tree(8, {1, 1, {}});
  for (int i = 0; i < 7; ++i)
    tree.push_back({1, 1, {2 * i, 2 * i + 1}});
  Problem problem = problemOf(tree);
  Solution solution = solve(problem, 4);
  ASSERT_FALSE(solution.schedule);
  EXPECT_EQ(solution.bound.need, 3);
  EXPECT_EQ(solution.lowestPeak, 5);
}

TEST(Rematerialization, WhereNoRepairFitsTheEndIsSearched) {
  // Each layer reads all of the layer before, except one value of each layer that all later layers
  // read: a value that is not kept needs everything before it again.
  Problem problem;
  std::mt19937_64 random(41);
  std::vector<int> before, always;
  for (int layer = 0; layer < 12; ++layer) {
    std::vector<int> now;
    for (int i = 0; i < 4; ++i) {
      int number = static_cast<int>(problem.operations.size());
      std::vector<int> operands = before;
      if (i == 3)
        operands.insert(operands.begin(), always.begin(), always.end());
      problem.operations.push_back({1.0 + static_cast<double>(random() % 9), operands, number, 1});
      problem.values.push_back({number, static_cast<int64_t>(1 + random() % 9)});
      now.push_back(number);
    }
    if (!before.empty())
      always.push_back(before.front());
    before = now;
  }
  ASSERT_FALSE(validate(problem));
  SolveOptions options; // no time to search
  options.isOver = [] { return true; };
  int searched = 0;
  int64_t peak = measure(problem, inOrder(problem)).peak;
  for (int64_t budget = peak; budget >= boundCost(problem, budget).need; --budget) {
    Solution solution = solve(problem, budget, options);
    if (!solution.schedule)
      continue;
    ASSERT_NO_FATAL_FAILURE(judge(problem, budget, *solution.schedule, solution.bound.extraCost));
    searched += !repair(problem, budget, solution.bound.replays);
  }
  EXPECT_GT(searched, 0);
}

TEST(Rematerialization, LargerProblemsFitAndRepeat) {
  std::mt19937_64 random(29);
  for (int round = 0; round < 5; ++round) {
    Problem problem = randomProblem(random, 30);
    int64_t budget = measure(problem, inOrder(problem)).peak * 9 / 10;
    std::optional<Schedule> one = search(problem, budget, 40000, 0);
    std::optional<Schedule> two = search(problem, budget, 40000, 0);
    ASSERT_EQ(one.has_value(), two.has_value());
    if (!one)
      continue;
    ASSERT_FALSE(validate(problem, *one));
    ASSERT_LE(measure(problem, *one).peak, budget);
    ASSERT_EQ(one->size(), two->size());
    for (size_t i = 0; i < one->size(); ++i) {
      ASSERT_EQ((*one)[i].operation, (*two)[i].operation);
      ASSERT_EQ((*one)[i].sources, (*two)[i].sources);
    }
  }
}

TEST(Rematerialization, TheJudgeTurnsRed) {
  Problem problem = skip();
  auto judge = [&](const std::function<void(Schedule &)> &damage) {
    Schedule schedule = inOrder(problem);
    damage(schedule);
    return validate(problem, schedule).value_or("");
  };
  EXPECT_EQ(judge([](Schedule &) {}), "");
  EXPECT_EQ(judge([](Schedule &s) { s.pop_back(); }), "operation 4 does not run");
  EXPECT_EQ(judge([](Schedule &s) { s[3].sources[0] = 1; }),
            "execution 3 reads what was not computed before it");
  EXPECT_EQ(judge([](Schedule &s) { s[1].sources[0] = 4; }),
            "execution 1 reads what was not computed before it");
  EXPECT_EQ(judge([](Schedule &s) { s[4].sources.pop_back(); }),
            "execution 4 has not one source per operand");
  EXPECT_EQ(judge([](Schedule &s) { s[2].operation = 9; }), "execution 2 is of no operation");
}

TEST(Rematerialization, RefusesBadProblems) {
  auto judge = [&](const std::function<void(Problem &)> &damage) {
    Problem problem = skip();
    damage(problem);
    return validate(problem).value_or("");
  };
  EXPECT_EQ(judge([](Problem &) {}), "");
  EXPECT_EQ(judge([](Problem &p) { p.operations[1].cost = -1; }),
            "operation 1 has a cost below 0 or none");
  EXPECT_EQ(judge([](Problem &p) { p.operations[1].cost = NAN; }),
            "operation 1 has a cost below 0 or none");
  EXPECT_EQ(judge([](Problem &p) { p.operations[1].operands = {2}; }),
            "operation 1 reads a value before it is computed");
  EXPECT_EQ(judge([](Problem &p) { p.operations[4].operands = {0, 0}; }),
            "operation 4 lists an operand twice");
  EXPECT_EQ(judge([](Problem &p) { p.values[2].bytes = -4; }),
            "value 2 has a size below 0 or too large");
  EXPECT_EQ(judge([](Problem &p) { p.values[2].operation = 1; }),
            "value 2 is no operation's result");
  EXPECT_EQ(judge([](Problem &p) { p.operations[4].numResults = 2; }),
            "operation 4 has results that do not exist");
}

} // namespace
