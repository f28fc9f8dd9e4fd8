// reprise: schedules of a graph within budgets
#include "Checkpoint.h"

#include "reprise/Planning/Rematerialization/Anneal.h"
#include "reprise/Planning/Rematerialization/Bound.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>
#include <cmath>

using llvm::json::Array;
using llvm::json::Object;

namespace reprise::remat {

llvm::Expected<int64_t> parseBudget(llvm::StringRef text, int64_t peak) {
  llvm::StringRef rest = text;
  double scale = 1;
  for (auto [unit, bytes] : {std::pair("%", static_cast<double>(peak) / 100),
                             {"KiB", 0x1p10},
                             {"MiB", 0x1p20},
                             {"GiB", 0x1p30}})
    if (rest.consume_back(unit)) {
      scale = bytes;
      break;
    }
  double number = 0;
  if (rest.getAsDouble(number) || !(number > 0) || !(number * scale < 0x1p61))
    return llvm::createStringError("expected a budget such as 80% or 1.5GiB, got '" + text + "'");
  return static_cast<int64_t>(std::floor(number * scale));
}

Plan planWithin(const Problem &problem, int64_t budget) {
  auto begin = std::chrono::steady_clock::now();
  Measure plain = measure(problem, inOrder(problem));
  auto percent = [&](double cost) { return plain.cost > 0 ? 100 * cost / plain.cost : 0; };
  Bound bound = boundCost(problem, budget);
  Plan plan;
  plan.budget = budget;
  plan.bound = percent(bound.extraCost);
  plan.need = bound.need;
  if (bound.isFeasible(budget)) {
    AnnealOptions options;
    options.enough = bound.extraCost;
    plan.schedule = anneal(problem, budget, options);
  }
  if (plan.schedule) {
    Measure found = measure(problem, *plan.schedule);
    plan.peak = found.peak;
    plan.extraCost = percent(found.cost - plain.cost);
  }
  plan.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

std::string describe(const Plan &plan) {
  if (plan.need > plan.budget)
    return llvm::formatv("budget {0}: no schedule fits, one operation needs {1} at once",
                         plan.budget, plan.need);
  if (!plan.schedule)
    return llvm::formatv("budget {0}: no schedule was found in {1:f2} s (bound +{2:f2} %)",
                         plan.budget, plan.seconds, plan.bound);
  return llvm::formatv("budget {0}: cost +{1:f2} % (bound +{2:f2} %, gap {3:f2} points), peak {4}, "
                       "{5} executions, {6:f2} s",
                       plan.budget, plan.extraCost, plan.bound, plan.extraCost - plan.bound,
                       plan.peak, plan.schedule->size(), plan.seconds);
}

std::string describeAsJson(const std::vector<Plan> &plans) {
  Array list;
  for (const Plan &plan : plans) {
    Object entry{{"budget", plan.budget},   {"bound_percent", plan.bound},
                 {"seconds", plan.seconds}, {"cost_increase_percent", nullptr},
                 {"gap_percent", nullptr},  {"peak", nullptr}};
    if (plan.schedule) {
      entry["cost_increase_percent"] = plan.extraCost;
      entry["gap_percent"] = plan.extraCost - plan.bound;
      entry["peak"] = plan.peak;
    }
    list.push_back(std::move(entry));
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
}

std::string writeSchedule(const Plan &plan) {
  Array executions;
  for (const Execution &execution : *plan.schedule) {
    Array sources;
    for (int source : execution.sources)
      sources.push_back(source);
    executions.push_back(
        Object{{"operation", execution.operation}, {"sources", std::move(sources)}});
  }
  Object file{{"version", 1},
              {"budget", plan.budget},
              {"peak", plan.peak},
              {"executions", std::move(executions)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(file)));
}

} // namespace reprise::remat
