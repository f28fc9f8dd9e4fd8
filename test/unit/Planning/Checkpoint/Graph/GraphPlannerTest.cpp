// reprise: tests of the planner of graphs, its bound and its judges
#include "../../../../../lib/reprise/Planning/Checkpoint/Graph/ReadExecutions.h"
#include "../../../../../lib/reprise/Planning/Checkpoint/Graph/SearchBackward.h"
#include "JudgeGraph.h"

#include <cmath>
#include <functional>

using namespace reprise::checkpoint;
using namespace reprise::checkpoint::test;

namespace {

/// Makes a value of 8 bytes that is read at once, and again at the end; two values lie between.
Nodes skip() {
  return {{5, {}, {8}}, {1, {0}, {4}}, {1, {1}, {6}}, {1, {2}, {1}}, {1, {0, 3}, {1}}};
}

bool never() { return false; }
bool always() { return true; }

TEST(Graph, MeasuresPeakAndCost) {
  Graph graph = makeGraph(skip());
  EXPECT_EQ(peakInOrder(graph), 8 + 4 + 6);
  // The first value again, before its second reader.
  std::vector<int> executions = {0, 1, 2, 3, 0, 4};
  Recount found;
  ASSERT_NO_FATAL_FAILURE(measure(graph, readLatest(graph, executions), found));
  EXPECT_EQ(found.peak, 8 + 4);
  EXPECT_EQ(found.cost, 5);
  Pieces pieces(graph.problem, graph.footprint, &graph.links, false);
  EXPECT_TRUE(pieces.isPlain);
  Sequence sequence = readExecutions(pieces, executions, 12);
  EXPECT_EQ(sequence.peak(), 8 + 4);
  EXPECT_EQ(sequence.cost(), 5);
  SequencePlan plan = toPlan(graph.problem, executions);
  plan.usage.peak = 12;
  plan.usage.seconds = 5;
  judge(graph, 12, plan, 5);
}

TEST(GraphPlanner, ReplaysWhatTheBudgetAsksFor) {
  Graph graph = makeGraph(skip());
  for (auto [budget, cost] : {std::pair(18, 0.0), {17, 5.0}, {12, 5.0}}) {
    GraphPlan found = planGraph(graph, budget);
    ASSERT_TRUE(found.plan) << budget;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, found.bound.seconds));
    EXPECT_EQ(found.plan->usage.seconds, cost) << budget;
  }
  EXPECT_FALSE(planGraph(graph, 11).plan);
}

TEST(GraphBound, KnowsWhatIsNeededAtOnce) {
  Graph graph = makeGraph(skip());
  EXPECT_EQ(findGraphBound(graph, 11).need, 12);
  EXPECT_FALSE(findGraphBound(graph, 11).isFeasible(11));
  // Five of eight bytes must be freed, which needs the whole replay.
  EXPECT_EQ(findGraphBound(graph, 13).seconds, 5);
  EXPECT_EQ(findGraphBound(graph, 13).replays, std::vector<int>{0});
  EXPECT_EQ(findGraphBound(graph, 18).seconds, 0);
}

TEST(GraphPlanner, AnOrderMayBeEnough) {
  // Two branches need less memory one after the other than at the same time.
  Graph graph = makeGraph(
      {{1, {}, {1}}, {1, {0}, {9}}, {1, {0}, {9}}, {1, {1}, {1}}, {1, {2}, {1}}, {1, {3, 4}, {1}}});
  EXPECT_EQ(peakInOrder(graph), 19);
  GraphPlan found = planGraph(graph, 12);
  ASSERT_TRUE(found.plan);
  ASSERT_NO_FATAL_FAILURE(judge(graph, 12, *found.plan, 0));
  EXPECT_EQ(found.plan->usage.seconds, 0);
}

TEST(GraphPlanner, NeverBelowTheOptimumNorTheBoundAboveIt) {
  std::mt19937_64 random(23);
  int optimal = 0, feasible = 0, infeasible = 0, replayed = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    Nodes nodes = randomNodes(random, 3 + static_cast<int>(random() % 5));
    ASSERT_FALSE(checkNodes(nodes));
    Graph graph = makeGraph(nodes);
    int64_t budget = peakInOrder(graph) * static_cast<int64_t>(75 + random() % 25) / 100;
    std::optional<double> optimum = findOptimum(graph, budget);
    GraphPlan found = planGraph(graph, budget, never, 0.04);
    if (!optimum) {
      ASSERT_FALSE(found.plan);
      ++infeasible;
      continue;
    }
    ++feasible;
    replayed += *optimum > 0;
    ASSERT_TRUE(found.bound.isFeasible(budget));
    ASSERT_LE(found.bound.seconds, *optimum + 1e-9);
    if (!found.plan)
      continue;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, *optimum));
    optimal += found.plan->usage.seconds <= *optimum + 1e-9;
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(feasible, 250);
  EXPECT_GT(replayed, 25);
  EXPECT_GT(optimal * 100, feasible * 95);
}

/// Checks that the executions fit, and that a sequence and a plan of them take what they take.
void judgeStart(const Graph &graph, const Pieces &pieces, int64_t budget,
                const std::vector<int> &executions) {
  Recount found;
  ASSERT_NO_FATAL_FAILURE(measure(graph, readLatest(graph, executions), found));
  ASSERT_LE(found.peak, budget);
  Sequence sequence = readExecutions(pieces, executions, budget);
  ASSERT_EQ(sequence.peak(), found.peak);
  ASSERT_EQ(sequence.cost(), found.cost);
  prune(sequence);
  ASSERT_EQ(sequence.excess(), 0);
  ASSERT_LE(sequence.cost(), found.cost);
  SequencePlan plan = toPlan(graph.problem, executions);
  auto ordered = reprise::checkpoint::sequence(graph.problem, graph.footprint, graph.links,
                                               plan.order, plan.executions);
  ASSERT_TRUE(ordered);
  ASSERT_FALSE(validate(ordered->step.problem, ordered->solution));
  Recount count = recount(ordered->step.problem, ordered->step.footprint, ordered->solution);
  ASSERT_LE(count.peak, budget);
  ASSERT_LE(count.cost, found.cost);
}

TEST(GraphPlanner, EveryAnswerIsRight) {
  std::mt19937_64 random(31);
  int swept = 0, searched = 0, planned = 0;
  for (int round = 0, count = problemCount(3000); round < count; ++round) {
    SCOPED_TRACE(round);
    Graph graph = makeGraph(randomNodes(random, 1 + static_cast<int>(random() % 40)));
    int64_t peak = peakInOrder(graph);
    int64_t budget = peak * static_cast<int64_t>(40 + random() % 61) / 100;
    GraphPlan found = planGraph(graph, budget, never, 0.001);
    if (found.plan)
      ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, found.bound.seconds));
    Pieces pieces(graph.problem, graph.footprint, &graph.links, false);
    std::vector<Executions> starts = sweep(graph, budget, found.bound.replays);
    swept += !starts.empty();
    if (auto one = searchBackward(graph.problem, budget, round % 2, 100)) {
      starts.push_back(*one);
      ++searched;
    }
    for (const Executions &start : starts)
      ASSERT_NO_FATAL_FAILURE(judgeStart(graph, pieces, budget, start));
    ASSERT_TRUE(found.plan || starts.empty());
    ASSERT_TRUE(found.bound.isFeasible(budget) || !found.plan);
    ASSERT_TRUE(!starts.empty() || budget < peak); // a problem that fits needs no search
    planned += found.plan.has_value();
  }
  EXPECT_GT(swept, 300);
  EXPECT_GT(searched, 300);
  EXPECT_GT(planned, 300);
}

/// Makes a forward chain, and a backward chain that reads its values.
Graph trainingChain(int layers) {
  Nodes nodes;
  int last = addOperation(nodes, 1, 8, {});
  for (int i = 0; i < layers; ++i)
    last = addOperation(nodes, 1, 8, {last});
  for (int i = layers; i > 0; --i)
    last = addOperation(nodes, 2, 8, last == i ? std::vector<int>{i} : std::vector<int>{i, last});
  return makeGraph(std::move(nodes));
}

TEST(GraphPlanner, SlowLongChainsArePlannedInTime) {
  Graph graph = trainingChain(50000);
  for (int share : {90, 50, 10}) {
    int64_t budget = peakInOrder(graph) * share / 100;
    GraphPlan found = planGraph(graph, budget);
    ASSERT_TRUE(found.plan) << share;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, found.bound.seconds));
    // About one more run of the values that are not kept: the first half has a third of the cost.
    EXPECT_LE(found.plan->usage.seconds, 50000 * 2) << share;
  }
}

TEST(GraphPlanner, ATimeLimitEndsTheSearch) {
  Graph graph = trainingChain(20);
  int64_t budget = peakInOrder(graph) * 4 / 10;
  int asked = 0;
  GraphPlan cut = planGraph(graph, budget, [&] { return ++asked > 5; });
  GraphPlan whole = planGraph(graph, budget), none = planGraph(graph, budget, always);
  ASSERT_TRUE(cut.plan && whole.plan && none.plan);
  EXPECT_TRUE(cut.isTruncated);
  EXPECT_FALSE(whole.isTruncated);
  EXPECT_EQ(asked, 6);
  EXPECT_LE(whole.plan->usage.seconds, cut.plan->usage.seconds);
  EXPECT_LE(cut.plan->usage.seconds, none.plan->usage.seconds);
}

TEST(GraphPlanner, SaysWhichBudgetIsMet) {
  // A tree of eight leaves, level by level. Depth first it needs five values at once, and no order
  // needs fewer (Paterson and Hewitt, 1970); each operation needs three.
  Nodes tree(8, {1, {}, {1}});
  for (int i = 0; i < 7; ++i)
    tree.push_back({1, {2 * i, 2 * i + 1}, {1}});
  GraphPlan found = planGraph(makeGraph(tree), 4);
  ASSERT_FALSE(found.plan);
  EXPECT_EQ(found.bound.need, 3);
  EXPECT_EQ(found.lowestPeak, 5);
}

TEST(GraphPlanner, WhereNoSweepFitsTheEndIsSearched) {
  // Each layer reads all of the layer before, except one value of each layer that all later layers
  // read: a value that is not kept needs everything before it again.
  Nodes nodes;
  std::mt19937_64 random(41);
  std::vector<int> before, shared;
  for (int layer = 0; layer < 12; ++layer) {
    std::vector<int> now;
    for (int i = 0; i < 4; ++i) {
      std::vector<int> operands = before;
      if (i == 3)
        operands.insert(operands.begin(), shared.begin(), shared.end());
      double cost = 1.0 + static_cast<double>(random() % 9);
      now.push_back(
          addOperation(nodes, cost, static_cast<int64_t>(1 + random() % 9), std::move(operands)));
    }
    if (!before.empty())
      shared.push_back(before.front());
    before = now;
  }
  ASSERT_FALSE(checkNodes(nodes));
  Graph graph = makeGraph(nodes);
  int searched = 0;
  int64_t peak = peakInOrder(graph);
  for (int64_t budget = peak; budget >= findGraphBound(graph, budget).need; --budget) {
    GraphPlan found = planGraph(graph, budget, always); // no time to search
    if (!found.plan)
      continue;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *found.plan, found.bound.seconds));
    searched += sweep(graph, budget, found.bound.replays).empty();
  }
  EXPECT_GT(searched, 0);
}

TEST(GraphPlanner, LargerProblemsFitAndRepeat) {
  std::mt19937_64 random(29);
  int found = 0;
  for (int round = 0; round < 5; ++round) {
    Graph graph = makeGraph(randomNodes(random, 30));
    int64_t budget = peakInOrder(graph) * 9 / 10;
    GraphPlan one = planGraph(graph, budget, never, 0.05);
    GraphPlan two = planGraph(graph, budget, never, 0.05);
    ASSERT_EQ(one.plan.has_value(), two.plan.has_value());
    if (!one.plan)
      continue;
    ++found;
    ASSERT_NO_FATAL_FAILURE(judge(graph, budget, *one.plan, one.bound.seconds));
    ASSERT_EQ(one.plan->order, two.plan->order);
    ASSERT_EQ(one.plan->executions.size(), two.plan->executions.size());
    for (size_t i = 0; i < one.plan->executions.size(); ++i) {
      ASSERT_EQ(one.plan->executions[i].operation, two.plan->executions[i].operation);
      ASSERT_EQ(one.plan->executions[i].sources, two.plan->executions[i].sources);
    }
  }
  EXPECT_GT(found, 0);
}

TEST(Graph, TheJudgeTurnsRed) {
  Graph graph = makeGraph(skip());
  auto accepts = [&](const std::function<void(SequencePlan &)> &damage) {
    SequencePlan plan = toPlan(graph.problem, {0, 1, 2, 3, 0, 4});
    damage(plan);
    if (!isPossible(graph.links, plan.order))
      return false;
    auto ordered = reprise::checkpoint::sequence(graph.problem, graph.footprint, graph.links,
                                                 plan.order, plan.executions);
    return ordered && !validate(ordered->step.problem, ordered->solution);
  };
  ASSERT_EQ(toPlan(graph.problem, {0, 1, 2, 3, 0, 4}).executions.size(), 2u);
  EXPECT_TRUE(accepts([](SequencePlan &) {}));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { plan.order.pop_back(); }));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { std::swap(plan.order[0], plan.order[1]); }));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { plan.executions.erase(plan.executions.begin()); }));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { plan.executions.pop_back(); }));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { plan.executions[1].sources.pop_back(); }));
  EXPECT_FALSE(accepts([](SequencePlan &plan) { plan.executions[0].operation = 9; }));
}

TEST(Graph, RefusesBadNodes) {
  auto check = [&](const std::function<void(Nodes &)> &damage) {
    Nodes nodes = skip();
    damage(nodes);
    return checkNodes(nodes).value_or("");
  };
  EXPECT_EQ(check([](Nodes &) {}), "");
  EXPECT_EQ(check([](Nodes &n) { n[1].cost = -1; }), "operation 1 has a cost below 0 or none");
  EXPECT_EQ(check([](Nodes &n) { n[1].cost = NAN; }), "operation 1 has a cost below 0 or none");
  EXPECT_EQ(check([](Nodes &n) { n[1].operands = {2}; }),
            "operation 1 reads a value before it is computed");
  EXPECT_EQ(check([](Nodes &n) { n[4].operands = {0, 0}; }), "operation 4 lists an operand twice");
  EXPECT_EQ(check([](Nodes &n) { n[2].bytes = {-4}; }), "value 2 has a size below 0 or too large");
  EXPECT_EQ(check([](Nodes &n) { n[0].cost = n[1].cost = 9e29; }),
            "the costs are more than 1e30 together");
}

} // namespace
