// reprise: schedules of a graph within budgets
#include "Checkpoint.h"

#include "reprise/Planning/Rematerialization/Solve.h"
#include "llvm/ADT/STLExtras.h"
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

Plan planWithin(const Problem &problem, int64_t budget, std::optional<double> timeLimit) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Measure plain = measure(problem, inOrder(problem));
  auto percent = [&](double cost) { return plain.cost > 0 ? 100 * cost / plain.cost : 0; };
  SolveOptions options;
  if (timeLimit)
    options.isOver = [&] { return seconds() >= *timeLimit; };
  Solution solution = solve(problem, budget, options);
  Plan plan;
  plan.budget = budget;
  plan.bound = percent(solution.bound.extraCost);
  plan.need = solution.bound.need;
  plan.lowestPeak = solution.lowestPeak;
  plan.isTruncated = solution.isTruncated;
  if (solution.schedule) {
    Measure found = measure(problem, *solution.schedule);
    plan.peak = found.peak;
    plan.extraCost = percent(found.cost - plain.cost);
  }
  plan.schedule = std::move(solution.schedule);
  plan.seconds = seconds();
  return plan;
}

std::string describe(const Plan &plan) {
  if (plan.need > plan.budget)
    return llvm::formatv("budget {0}: no schedule fits, one operation needs {1} at once",
                         plan.budget, plan.need);
  const char *end = plan.isTruncated ? ", ended by the time limit" : "";
  if (!plan.schedule)
    return llvm::formatv("budget {0}: no schedule was found in {1:f2} s{2}; one within {3} was",
                         plan.budget, plan.seconds, end, plan.lowestPeak);
  return llvm::formatv("budget {0}: cost +{1:f2} % (bound +{2:f2} %, gap {3:f2} points), peak {4}, "
                       "{5} executions, {6:f2} s{7}",
                       plan.budget, plan.extraCost, plan.bound, plan.extraCost - plan.bound,
                       plan.peak, plan.schedule->size(), plan.seconds, end);
}

std::string describeAsJson(const std::vector<Plan> &plans) {
  Array list;
  for (const Plan &plan : plans) {
    Object entry{{"budget", plan.budget},        {"bound_percent", plan.bound},
                 {"seconds", plan.seconds},      {"cost_increase_percent", nullptr},
                 {"gap_percent", nullptr},       {"peak", nullptr},
                 {"truncated", plan.isTruncated}};
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
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "{\n  \"version\": 1,\n  \"budget\": " << plan.budget << ",\n  \"peak\": " << plan.peak
      << ",\n  \"executions\": [";
  const char *separator = "\n";
  for (const Execution &execution : *plan.schedule) {
    out << separator << "    {\"operation\": " << execution.operation << ", \"sources\": [";
    llvm::interleaveComma(execution.sources, out);
    out << "]}";
    separator = ",\n";
  }
  out << "\n  ]\n}\n";
  return text;
}

} // namespace reprise::remat
