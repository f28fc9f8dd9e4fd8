// reprise: the budget in a report
#include "Report.h"

#include "reprise/Support/Readable.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

ReportedBudget describeBudget(const BudgetOutcome &outcome) {
  double total = std::max(outcome.total, 1e-30);
  ReportedSearch search;
  search.saveAllBytes = outcome.saveAll;
  search.usualBytes = outcome.usualBytes;
  search.predictedBytes = outcome.plan.bytes();
  search.overriddenBytes = outcome.plan.overridden;
  search.rounds = outcome.rounds;
  search.costIncrease = (outcome.plan.seconds - outcome.usual) / total;
  search.bound = std::min((outcome.bound - outcome.usual) / total, search.costIncrease);
  search.form.assign(outcome.plan.form.begin(), outcome.plan.form.end());
  search.reordered = outcome.plan.isReordered;
  search.truncated = outcome.isTruncated;
  return {outcome.budget, search};
}

std::string readCost(const Report &report) {
  if (!report.budget || !report.budget->search)
    return report.costIncrease
               ? "cost " + showPercent(100 * *report.costIncrease) + " compared with no budget"
               : "";
  const ReportedSearch &search = *report.budget->search;
  int64_t more = search.predictedBytes - search.usualBytes;
  return formatv("cost {0} compared with no budget{1}{2}{3}; {4}",
                 showPercent(100 * search.costIncrease),
                 more > 0 ? ", " + showBytes(more) + " more than without a budget" : "",
                 search.reordered ? ", launches in another order" : "",
                 search.truncated ? ", truncated: the time limit ended the search" : "",
                 showGap(100 * search.costIncrease, 100 * search.bound))
      .str();
}

std::vector<const ReportedValue *> listOverridden(const Report &report) {
  std::vector<const ReportedValue *> values = listValues(report);
  llvm::erase_if(values, [](const ReportedValue *value) {
    using checkpoint::ValueLabel;
    bool isPrefer = llvm::is_contained(
        {ValueLabel::PreferSave, ValueLabel::PreferRecompute, ValueLabel::PreferOffload},
        value->label);
    return value->why != checkpoint::Reason::Budget || !isPrefer;
  });
  return values;
}

} // namespace reprise
