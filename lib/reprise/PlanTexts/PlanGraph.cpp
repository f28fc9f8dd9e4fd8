// reprise: schedules of a graph within budgets
#include "Graph.h"
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Checkpoint/Graph/GraphPlanner.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

namespace reprise {

using checkpoint::Execution;
using checkpoint::Graph;
using checkpoint::SequencedStep;

/// Returns the text of a schedule: operations by number, and the places that operands are read
/// from.
static std::string writeSchedule(const Plan &plan, const SequencedStep &found) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": 1,\n  \"budget\": " << plan.budget << ",\n  \"peak\": " << plan.peak
      << ",\n  \"executions\": [";
  const char *separator = "\n";
  std::map<std::pair<int, int>, size_t> places; // of executions, by operation and replay
  const checkpoint::Problem &problem = found.step.problem;
  for (const Execution &execution : found.solution.executions) {
    out << separator << "    {\"operation\": " << found.step.operations[execution.operation]
        << ", \"sources\": [";
    const std::vector<int> &operands = problem.operations[execution.operation].operands;
    for (auto [operand, source] : llvm::zip_equal(operands, execution.sources))
      out << (&operand == &operands.front() ? "" : ", ")
          << places.at({problem.values[operand].operation, source});
    out << "]}";
    separator = ",\n";
    places.insert({{execution.operation, execution.replay}, places.size()});
  }
  out << "\n  ]\n}\n";
  return text;
}

/// Fills in the plan that was found, as the judges see it.
static llvm::Error judge(const Graph &graph, const checkpoint::SequencePlan &found, bool isWritten,
                         Plan &plan) {
  auto ordered = checkpoint::sequence(graph.problem, graph.footprint, graph.links, found.order,
                                      found.executions);
  if (!ordered)
    return llvm::createStringError("the schedule is wrong: it cannot be placed");
  if (auto wrong = validate(ordered->step.problem, ordered->solution))
    return llvm::createStringError("the schedule is wrong: " + wrong->message);
  checkpoint::Recount count =
      recount(ordered->step.problem, ordered->step.footprint, ordered->solution);
  plan.peak = count.peak;
  plan.cost = count.cost;
  plan.executions = ordered->solution.executions.size();
  if (isWritten)
    plan.text = writeSchedule(plan, *ordered);
  return llvm::Error::success();
}

static llvm::Expected<Plan> planWithin(const Graph &graph, int64_t budget,
                                       const PlanOptions &options) {
  Stopwatch watch(options.timeLimit, options.isCancelled);
  double total =
      std::accumulate(graph.footprint.seconds.begin(), graph.footprint.seconds.end(), 0.0);
  auto percent = [&](double cost) { return total > 0 ? 100 * cost / total : 0; };
  checkpoint::GraphPlan found =
      checkpoint::planGraph(graph, budget, [&] { return watch.isOver(); });
  Plan plan;
  plan.budget = budget;
  plan.isFound = found.plan.has_value();
  plan.bound = percent(found.bound.seconds);
  plan.place = "one operation";
  plan.need = found.bound.need;
  plan.lowestPeak = found.lowestPeak;
  plan.isTruncated = found.isTruncated;
  if (plan.isFound) {
    if (llvm::Error wrong = judge(graph, *found.plan, options.isWritten, plan))
      return wrong;
    plan.extraCost = percent(plan.cost);
  }
  plan.seconds = watch.seconds();
  return plan;
}

/// Schedules of all budgets compete for each, so that more bytes never cost more.
static void compete(std::vector<Plan> &plans) {
  const std::vector<Plan> found = plans;
  for (Plan &plan : plans)
    for (const Plan &other : found) {
      bool fits = other.isFound && other.peak <= plan.budget;
      if (!fits || (plan.isFound && plan.cost <= other.cost))
        continue;
      plan.isFound = true;
      plan.peak = other.peak;
      plan.cost = other.cost;
      plan.extraCost = other.extraCost;
      plan.executions = other.executions;
    }
}

llvm::Expected<std::vector<Plan>> planGraph(llvm::StringRef text, const PlanOptions &options) {
  if (options.orLeast)
    return llvm::createStringError(options.path + ": is a graph, which has no plan of least peak");
  Graph graph;
  if (std::string wrong = readGraph(text, graph); !wrong.empty())
    return llvm::createStringError(options.path + ": " + wrong);
  std::vector<int64_t> bytes = checkpoint::findBytesInOrder(graph.problem);
  int64_t peak = *std::max_element(bytes.begin(), bytes.end());
  llvm::Expected<std::vector<int64_t>> budgets = parseBudgets(options.budgets, peak);
  if (!budgets)
    return budgets.takeError();
  std::vector<Plan> plans;
  for (int64_t budget : *budgets) {
    if (options.isCancelled && options.isCancelled())
      return llvm::createStringError("the search was cancelled");
    llvm::Expected<Plan> plan = planWithin(graph, budget, options);
    if (!plan)
      return plan.takeError();
    plans.push_back(std::move(*plan));
  }
  compete(plans);
  shareLowestPeak(plans);
  return plans;
}

} // namespace reprise
