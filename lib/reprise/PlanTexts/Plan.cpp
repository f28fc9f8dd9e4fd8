// reprise: plans within budgets, of graphs and of checkpoint problems, and their texts
#include "reprise/PlanTexts/Plan.h"

#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"
#include "reprise/Support/ByteUnits.h"
#include "reprise/Support/Wording.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static llvm::Expected<int64_t> parseBudget(llvm::StringRef text, int64_t peak) {
  std::string plain = ungroupDigits(text);
  std::string_view rest = plain;
  bool isShare = !rest.empty() && rest.back() == '%';
  double scale = static_cast<double>(peak),
         part = isShare ? 100 : 1; // divided last, so that 100% is exact
  if (isShare)
    rest.remove_suffix(1);
  else
    scale = consumeByteUnit(rest).value_or(1);
  double number = 0;
  if (llvm::StringRef(rest).getAsDouble(number) || !(number > 0) ||
      !(number * scale / part < 0x1p61))
    return llvm::createStringError("expected --budget as bytes (1500000), a number with a unit "
                                   "(1.5GiB; units are " +
                                   std::string(kByteUnits) + ") or a share (80%), got '" +
                                   text.str() + "'");
  return static_cast<int64_t>(std::floor(number * scale / part));
}

llvm::Expected<std::vector<int64_t>> parseBudgets(const std::vector<std::string> &texts,
                                                  int64_t peak) {
  std::vector<int64_t> budgets;
  for (const std::string &text : texts) {
    llvm::Expected<int64_t> budget = parseBudget(text, peak);
    if (!budget)
      return budget.takeError();
    budgets.push_back(*budget);
  }
  return budgets;
}

std::string checkBudget(llvm::StringRef text) {
  llvm::Expected<int64_t> budget = parseBudget(text, 1);
  return budget ? "" : llvm::toString(budget.takeError());
}

llvm::Expected<std::vector<Plan>> planWithinBudgets(llvm::StringRef text,
                                                    const PlanOptions &options) {
  return checkpoint::isProblemFile(text) ? planProblem(text, options) : planGraph(text, options);
}

void shareLowestPeak(std::vector<Plan> &plans) {
  int64_t lowest = INT64_MAX;
  for (const Plan &plan : plans)
    lowest = std::min(lowest, plan.isFound ? plan.peak : plan.lowestPeak);
  for (Plan &plan : plans)
    plan.lowestPeak = lowest;
}

std::string describe(const Plan &plan) {
  std::string budget = "budget " + showBytesExactly(plan.budget);
  if (!plan.isFound && plan.need > plan.budget)
    return llvm::formatv("{0}: no schedule fits, {1} needs {2} at once", budget, plan.place,
                         showBytesExactly(plan.need));
  const char *end = plan.isTruncated ? ", ended by the time limit" : "";
  if (!plan.isFound)
    return llvm::formatv(
        "{0}: no schedule was found in {1:f2} s{2}; a schedule within {3} was found", budget,
        plan.seconds, end, showBytesExactly(plan.lowestPeak));
  std::string overridden =
      plan.overridden.value_or(0) > 0 ? showBytesExactly(*plan.overridden) + " overridden, " : "";
  const char *order = plan.isReordered.value_or(false) ? ", launches in another order" : "";
  if (plan.peak > plan.budget)
    budget += ", which no plan fits";
  return llvm::formatv("{0}: cost {1}, peak {2}, {3}{4} executions{5}, {6:f2} s{7}; {8}", budget,
                       showPercent(plan.extraCost), showBytesExactly(plan.peak), overridden,
                       plan.executions, order, plan.seconds, end,
                       showGap(plan.extraCost, plan.bound));
}

std::string describeAsJson(const std::vector<Plan> &plans) {
  Array list;
  for (const Plan &plan : plans) {
    Object entry{{"budget", plan.budget},  {"bound_percent", plan.bound},
                 {"cost", nullptr},        {"seconds", plan.seconds},
                 {"peak", nullptr},        {"cost_increase_percent", nullptr},
                 {"gap_percent", nullptr}, {"truncated", plan.isTruncated}};
    if (plan.isFound) {
      entry["cost"] = plan.cost;
      entry["cost_increase_percent"] = plan.extraCost;
      entry["gap_percent"] = plan.extraCost - plan.bound;
      entry["peak"] = plan.peak;
    }
    if (!plan.isFound || plan.peak > plan.budget)
      entry["lowest_peak"] = plan.lowestPeak;
    if (plan.need > plan.budget) {
      entry["place"] = plan.place;
      entry["needed"] = plan.need;
    }
    if (plan.isFound && plan.overridden)
      entry["overridden_bytes"] = *plan.overridden;
    if (plan.isFound && plan.isReordered)
      entry["reordered"] = *plan.isReordered;
    list.push_back(std::move(entry));
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
}

} // namespace reprise
