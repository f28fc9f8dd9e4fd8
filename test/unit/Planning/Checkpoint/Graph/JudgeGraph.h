// reprise: plain judge of schedules of graphs, for tests
#ifndef REPRISE_TEST_PLANNING_JUDGEGRAPH_H
#define REPRISE_TEST_PLANNING_JUDGEGRAPH_H

#include "RandomGraph.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"

#include <gtest/gtest.h>

namespace reprise::checkpoint::test {

/// Execution of an operation. `sources` names for each operand the earlier execution, by its place
/// in the schedule, whose result is read.
struct PlainExecution {
  int operation = 0;
  std::vector<int> sources;
};
using PlainSchedule = std::vector<PlainExecution>;

/// Returns the schedule in which each execution reads the latest ones of its operands.
inline PlainSchedule readLatest(const Graph &graph, const std::vector<int> &executions) {
  PlainSchedule schedule;
  std::vector<int> latest(graph.problem.operations.size(), -1);
  for (int operation : executions) {
    PlainExecution execution{operation, {}};
    for (int value : graph.problem.operations[operation].operands)
      execution.sources.push_back(latest[graph.problem.values[value].operation]);
    latest[operation] = static_cast<int>(schedule.size());
    schedule.push_back(std::move(execution));
  }
  return schedule;
}

/// Checks a schedule against the graph alone, and measures it. A result lives from its execution to
/// its last reader, both included.
inline void measure(const Graph &graph, const PlainSchedule &schedule, Recount &found) {
  const Problem &problem = graph.problem;
  std::vector<bool> ran(problem.operations.size());
  std::vector<std::vector<size_t>> last(schedule.size());
  found.cost = -totalCost(graph);
  for (size_t i = 0; i < schedule.size(); ++i) {
    const Problem::Operation &op = problem.operations[schedule[i].operation];
    ran[schedule[i].operation] = true;
    last[i].assign(op.numResults, i);
    ASSERT_EQ(schedule[i].sources.size(), op.operands.size());
    for (size_t k = 0; k < op.operands.size(); ++k) {
      int source = schedule[i].sources[k], maker = problem.values[op.operands[k]].operation;
      ASSERT_TRUE(source >= 0 && source < static_cast<int>(i));
      ASSERT_EQ(schedule[source].operation, maker);
      last[source][op.operands[k] - problem.operations[maker].firstResult] = i;
    }
    found.cost += graph.footprint.seconds[schedule[i].operation];
  }
  ASSERT_TRUE(std::all_of(ran.begin(), ran.end(), [](bool each) { return each; }));
  std::vector<int64_t> bytes(schedule.size() + 1);
  for (size_t i = 0; i < schedule.size(); ++i)
    for (size_t r = 0; r < last[i].size(); ++r) {
      int value = problem.operations[schedule[i].operation].firstResult + static_cast<int>(r);
      bytes[i] += problem.values[value].bytes;
      bytes[last[i][r] + 1] -= problem.values[value].bytes;
    }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  found.peak = *std::max_element(bytes.begin(), bytes.end());
}

/// Checks a plan by the judges of solutions and by the plain one, which must agree, and against a
/// budget and a bound.
inline void judge(const Graph &graph, int64_t budget, const SequencePlan &plan, double bound) {
  auto ordered = sequence(graph.problem, graph.footprint, graph.links, plan.order, plan.executions);
  ASSERT_TRUE(ordered);
  auto defect = validate(ordered->step.problem, ordered->solution);
  ASSERT_FALSE(defect) << defect->message;
  Recount count = recount(ordered->step.problem, ordered->step.footprint, ordered->solution), plain;
  PlainSchedule schedule;
  std::map<std::pair<int, int>, int> places;
  for (const Execution &execution : ordered->solution.executions) {
    schedule.push_back({ordered->step.operations[execution.operation], {}});
    const auto &operands = ordered->step.problem.operations[execution.operation].operands;
    for (size_t i = 0; i < operands.size(); ++i)
      schedule.back().sources.push_back(
          places.at({ordered->step.problem.values[operands[i]].operation, execution.sources[i]}));
    places.insert({{execution.operation, execution.replay}, static_cast<int>(places.size())});
  }
  ASSERT_NO_FATAL_FAILURE(measure(graph, schedule, plain));
  ASSERT_EQ(plain.peak, count.peak);
  ASSERT_NEAR(plain.cost, count.cost, 1e-9 * totalCost(graph));
  ASSERT_EQ(plan.usage.peak, count.peak);
  ASSERT_EQ(plan.usage.seconds, count.cost);
  ASSERT_LE(count.peak, budget);
  ASSERT_GE(count.cost, bound - 1e-9 * totalCost(graph));
}

} // namespace reprise::checkpoint::test

#endif // REPRISE_TEST_PLANNING_JUDGEGRAPH_H
