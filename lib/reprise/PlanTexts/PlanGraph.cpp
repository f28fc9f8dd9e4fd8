// reprise: schedules of a graph within budgets
#include "Graph.h"
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Rematerialization/Solve.h"
#include "llvm/ADT/STLExtras.h"

namespace reprise {

/// The schedule: operations by number, and the place that each operand is read from.
static std::string writeSchedule(const Plan &plan, const remat::Schedule &schedule) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": 1,\n  \"budget\": " << plan.budget << ",\n  \"peak\": " << plan.peak
      << ",\n  \"executions\": [";
  const char *separator = "\n";
  for (const remat::Execution &execution : schedule) {
    out << separator << "    {\"operation\": " << execution.operation << ", \"sources\": [";
    llvm::interleaveComma(execution.sources, out);
    out << "]}";
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
  return text;
}

static llvm::Expected<Plan> planWithin(const remat::Problem &problem, int64_t budget,
                                       const PlanOptions &options) {
  Stopwatch watch(options.timeLimit, options.isCancelled);
  remat::Measure plain = remat::measure(problem, remat::inOrder(problem));
  auto percent = [&](double cost) { return plain.cost > 0 ? 100 * cost / plain.cost : 0; };
  remat::SolveOptions solveOptions;
  solveOptions.isOver = [&] { return watch.isOver(); };
  remat::Solution solution = remat::solve(problem, budget, solveOptions);
  Plan plan;
  plan.budget = budget;
  plan.isFound = solution.schedule.has_value();
  plan.bound = percent(solution.bound.extraCost);
  plan.place = "one operation";
  plan.need = solution.bound.need;
  plan.lowestPeak = solution.lowestPeak;
  plan.isRefuted = solution.isRefuted;
  plan.isTruncated = solution.isTruncated;
  if (plan.isFound) {
    if (auto wrong = remat::validate(problem, *solution.schedule))
      return llvm::createStringError("the schedule is wrong: " + *wrong);
    remat::Measure found = remat::measure(problem, *solution.schedule);
    plan.peak = found.peak;
    plan.cost = found.cost - plain.cost;
    plan.extraCost = percent(plan.cost);
    plan.executions = solution.schedule->size();
    if (options.isWritten)
      plan.text = writeSchedule(plan, *solution.schedule);
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
  remat::Problem problem;
  if (std::string wrong = remat::readGraph(text, problem); !wrong.empty())
    return llvm::createStringError(options.path + ": " + wrong);
  int64_t peak = remat::measure(problem, remat::inOrder(problem)).peak;
  llvm::Expected<std::vector<int64_t>> budgets = parseBudgets(options.budgets, peak);
  if (!budgets)
    return budgets.takeError();
  std::vector<Plan> plans;
  for (int64_t budget : *budgets) {
    if (options.isCancelled && options.isCancelled())
      return llvm::createStringError("the search was cancelled");
    llvm::Expected<Plan> plan = planWithin(problem, budget, options);
    if (!plan)
      return plan.takeError();
    plans.push_back(std::move(*plan));
  }
  compete(plans);
  shareLowestPeak(plans);
  return plans;
}

} // namespace reprise
