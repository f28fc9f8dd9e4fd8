// reprise: tests of the exact search, and of the planner of graphs against it
#include "ExactSearch.h"
#include "../../Distances.h"
#include "JudgeGraph.h"

#ifdef REPRISE_HAS_CBC
#include "CheckmateProgram.h"
#endif

#include <cmath>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;
using reprise::test::Distances;

namespace {

using Maker = Nodes (*)(std::mt19937_64 &random, int count);

/// Picks a budget between the bytes of the largest operation and the peak of all operations in
/// order.
int64_t pickBudget(std::mt19937_64 &random, const Graph &graph) {
  int64_t peak = peakInOrder(graph), need = findGraphBound(graph, peak).need;
  return need + (peak - need) * static_cast<int64_t>(random() % 100) / 100;
}

/// Checks that the result, a schedule or none, is correct.
void check(const Graph &graph, int64_t budget, const Exact &found) {
  ASSERT_TRUE(found.isProved);
  if (!found.executions)
    return;
  Recount measured;
  ASSERT_NO_FATAL_FAILURE(measure(graph, readLatest(graph, *found.executions), measured));
  ASSERT_LE(measured.peak, budget);
  ASSERT_NEAR(measured.cost, found.leastCost, 1e-9 * totalCost(graph));
}

/// Returns the cost of what sweeps find; none if they find nothing.
std::optional<double> sweepCost(const Graph &graph, int64_t budget) {
  std::optional<double> cost;
  for (const Executions &executions : sweep(graph, budget, {})) {
    double own = -totalCost(graph);
    for (int operation : executions)
      own += graph.footprint.seconds[operation];
    cost = std::min(own, cost.value_or(own));
  }
  return cost;
}

TEST(Exact, IsTheOptimumOfAllStates) {
  std::mt19937_64 random(51);
  int replayed = 0, infeasible = 0;
  for (Maker make : {randomNodes, sparseNodes, trainingNodes, layeredNodes}) {
    for (int round = 0; round < 300; ++round) {
      SCOPED_TRACE(round);
      Graph graph = makeGraph(make(random, 3 + static_cast<int>(random() % 5)));
      int64_t budget = pickBudget(random, graph);
      std::optional<double> optimum = findOptimum(graph, budget);
      ExactOptions options;
      if (round % 2 == 0)
        options.known = sweepCost(graph, budget);
      Exact found = solveExactly(graph, budget, options);
      ASSERT_NO_FATAL_FAILURE(check(graph, budget, found));
      ASSERT_EQ(found.leastCost, optimum.value_or(INFINITY));
      infeasible += !optimum;
      replayed += optimum && *optimum > 0;
    }
  }
  EXPECT_GT(infeasible, 20);
  EXPECT_GT(replayed, 60);
}

TEST(Exact, FreedomCostsNothing) {
  std::mt19937_64 random(52);
  int reordered = 0, unstaged = 0, swept = 0, optimal = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    Maker make = round % 2 ? sparseNodes : trainingNodes;
    Graph graph = makeGraph(make(random, 6 + static_cast<int>(random() % 10)));
    int64_t budget = pickBudget(random, graph);
    ExactOptions options;
    Exact any = solveExactly(graph, budget, options);
    options.orders = Orders::Given;
    Exact given = solveExactly(graph, budget, options);
    options.orders = Orders::Stages;
    Exact stages = solveExactly(graph, budget, options);
    for (const Exact &found : {any, given, stages})
      ASSERT_NO_FATAL_FAILURE(check(graph, budget, found));
    ASSERT_LE(any.leastCost, given.leastCost);
    ASSERT_LE(given.leastCost, stages.leastCost);
    reordered += any.leastCost < given.leastCost;
    unstaged += given.leastCost < stages.leastCost;
    // Sweeps keep the order.
    std::optional<double> cost = sweepCost(graph, budget);
    if (!cost)
      continue;
    ++swept;
    ASSERT_GE(*cost, given.leastCost);
    optimal += *cost == given.leastCost;
  }
  EXPECT_GT(reordered, 40);
  EXPECT_GT(unstaged, 2);
  EXPECT_GT(swept, 200);
  EXPECT_GT(optimal * 2, swept);
}

TEST(Exact, IsTheOptimumOfCheckmatesProgram) {
#ifdef REPRISE_HAS_CBC
  std::mt19937_64 random(53);
  int replayed = 0, infeasible = 0;
  const Maker makers[] = {sparseNodes, layeredNodes, trainingNodes};
  for (int round = 0; round < 45; ++round) {
    SCOPED_TRACE(round);
    Graph graph = makeGraph(makers[round % 3](random, 4 + static_cast<int>(random() % 6)));
    int64_t budget = pickBudget(random, graph);
    ExactOptions options;
    options.orders = Orders::Stages;
    Exact found = solveExactly(graph, budget, options);
    ASSERT_NO_FATAL_FAILURE(check(graph, budget, found));
    std::optional<double> optimum = CheckmateProgram(graph, budget).solve();
    ASSERT_EQ(found.executions.has_value(), optimum.has_value());
    infeasible += !optimum;
    if (!optimum)
      continue;
    ASSERT_NEAR(found.leastCost + totalCost(graph), *optimum, 1e-6);
    replayed += found.leastCost > 0;
  }
  EXPECT_GT(replayed, 10);
  EXPECT_GT(infeasible, 0);
#else
  GTEST_SKIP() << "CBC was not there when this was built";
#endif
}

/// Compares the planner's bound and answer with the optimum of any order.
void compare(const Graph &graph, int64_t budget, size_t states, Distances &distances) {
  double plain = totalCost(graph);
  GraphPlan found = planGraph(graph, budget);
  ASSERT_TRUE(found.bound.isFeasible(budget));
  ExactOptions options;
  if (found.plan) {
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, found.bound.seconds));
    options.known = found.plan->usage.seconds;
  }
  options.states = states;
  Exact exact = solveExactly(graph, budget, options);
  if (!exact.isProved) {
    ++distances.open;
    return;
  }
  ASSERT_NO_FATAL_FAILURE(check(graph, budget, exact));
  ++distances.solved;
  bool isRefuted = std::isinf(exact.leastCost);
  distances.refuted += isRefuted;
  if (isRefuted)
    return;
  ASSERT_LE(found.bound.seconds, exact.leastCost + 1e-9 * plain);
  distances.addBound(100 * (exact.leastCost - found.bound.seconds) / plain);
  distances.missed += !found.plan;
  if (!found.plan)
    return;
  ASSERT_GE(found.plan->usage.seconds, exact.leastCost - 1e-9 * plain);
  distances.add(100 * std::max(0.0, found.plan->usage.seconds - exact.leastCost) / plain);
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
    int count = 2 + static_cast<int>(random() % (GetParam().most - 1));
    Graph graph = makeGraph(GetParam().make(random, count));
    ASSERT_NO_FATAL_FAILURE(compare(graph, pickBudget(random, graph), states, distances));
  }
  if (rounds > usual)
    distances.print(GetParam().name);
  int feasible = distances.feasible();
  EXPECT_GT(distances.solved * 10, rounds * 6);
  EXPECT_GT(distances.optimal * 10, feasible * 5);
  EXPECT_LT(distances.sum, 3.0 * feasible);
}

INSTANTIATE_TEST_SUITE_P(Exact, ExactFamilies,
                         ::testing::Values(Family{"Dense", randomNodes, 20},
                                           Family{"Sparse", sparseNodes, 40},
                                           Family{"Layered", layeredNodes, 40},
                                           Family{"Training", trainingNodes, 40}),
                         [](const auto &info) { return info.param.name; });

TEST(Exact, ProvesWhatThePlannerSays) {
  std::mt19937_64 random(55);
  int optimal = 0, feasible = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    Graph graph = makeGraph(trainingNodes(random, 8 + static_cast<int>(random() % 20)));
    int64_t budget = pickBudget(random, graph);
    GraphPlan found = planGraph(graph, budget);
    Exact exact = solveExactly(graph, budget);
    ASSERT_NO_FATAL_FAILURE(check(graph, budget, exact));
    ASSERT_EQ(found.plan.has_value(), exact.executions.has_value());
    if (!found.plan)
      continue;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, exact.leastCost));
    ++feasible;
    optimal += found.plan->usage.seconds <= exact.leastCost + 1e-9 * totalCost(graph);
  }
  EXPECT_GT(feasible, 30);
  EXPECT_GE(optimal, feasible - 1);
}

TEST(Exact, AnEarlyEndLeavesABound) {
  std::mt19937_64 random(56);
  int cut = 0, cheaper = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    Graph graph = makeGraph(sparseNodes(random, 16));
    int64_t budget = pickBudget(random, graph);
    ExactOptions options;
    Exact whole = solveExactly(graph, budget, options);
    ASSERT_NO_FATAL_FAILURE(check(graph, budget, whole));
    options.known = sweepCost(graph, budget);
    options.states = 20;
    Exact early = solveExactly(graph, budget, options);
    ASSERT_LE(early.leastCost, whole.leastCost);
    ASSERT_TRUE(!early.isProved || early.leastCost == whole.leastCost);
    cut += !early.isProved;
    cheaper += early.leastCost < whole.leastCost;
  }
  EXPECT_GT(cut, 20);
  EXPECT_GT(cheaper, 10);
}

} // namespace
