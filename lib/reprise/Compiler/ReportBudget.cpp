// reprise: what a report tells of its budget
#include "Html.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Object;

namespace reprise {

void describeBudget(const BudgetOutcome &outcome, Object &report) {
  double total = std::max(outcome.total, 1e-30);
  double increase = outcome.plan.seconds / total, bound = std::min(outcome.bound / total, increase);
  report["bound"] = bound;
  report["gap"] = increase - bound;
  report["budget"] = Object{{"bytes", outcome.budget},
                            {"save_all_bytes", outcome.saveAll},
                            {"predicted_bytes", outcome.plan.bytes()},
                            {"cost_increase", increase},
                            {"overridden_bytes", outcome.plan.overridden},
                            {"rounds", outcome.rounds},
                            {"bodies_recomputed", outcome.hasBodies},
                            {"unrolled", outcome.isUnrolled},
                            {"deferred", outcome.isDeferred},
                            {"reordered", outcome.plan.isReordered},
                            {"truncated", outcome.isTruncated}};
}

std::string readCost(const Object &report) {
  const Object *budget = report.getObject("budget");
  if (!budget || !budget->getNumber("cost_increase"))
    return "";
  bool isTruncated = budget->getBoolean("truncated").value_or(false);
  bool isReordered = budget->getBoolean("reordered").value_or(false);
  return formatv("cost {0} (bound {1}, gap {2:f2} points){3}{4}",
                 html::percent(html::number(*budget, "cost_increase")),
                 html::percent(html::number(report, "bound")), 100 * html::number(report, "gap"),
                 isReordered ? ", launches in another order" : "",
                 isTruncated ? ", truncated: the time limit ended the search" : "")
      .str();
}

std::vector<const Object *> findOverridden(const Object &report) {
  std::vector<const Object *> rows = valuesByBytes(report);
  llvm::erase_if(rows, [](const Object *row) {
    return row->getString("reason") != "budget" ||
           !row->getString("label").value_or("").starts_with("prefer");
  });
  return rows;
}

} // namespace reprise
