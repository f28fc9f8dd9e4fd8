// reprise: seconds of the cost model in reports
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {

/// Adds the launch's seconds to the parts of its ops, in proportion to the seconds of each op
/// alone.
static void addSeconds(exec::LaunchOp launch, const CostModel &costs, double (&seconds)[3]) {
  auto parts = launch->getAttrOfType<DenseI64ArrayAttr>(exec::kPartsAttr);
  SmallVector<Operation *> ops;
  for (Operation &op : launch.getBody().front().without_terminator())
    ops.push_back(&op);
  if (!parts || parts.size() != static_cast<int64_t>(ops.size()))
    return;
  double whole = countLaunchSeconds(launch, costs);
  double shares[3] = {}, sum = 0;
  for (auto [op, part] : llvm::zip(ops, parts.asArrayRef())) {
    double alone = costs.getSeconds(op, 0);
    shares[part] += alone;
    sum += alone;
  }
  if (sum == 0)
    sum = shares[parts.empty() ? 0 : parts[0]] = 1;
  for (unsigned part = 0; part < 3; ++part)
    seconds[part] += whole * shares[part] / sum;
}

void describeCosts(ProgramOp step, const CostModel &costs, Report &report) {
  if (!report.plan)
    return;
  double seconds[3] = {};
  step.walk([&](exec::LaunchOp launch) { addSeconds(launch, costs, seconds); });
  report.plan->cost = {seconds[0], seconds[1], seconds[2]};
  report.device = costs.getRates().name;
  report.modelError = costs.getErrors();
}

std::vector<std::pair<std::string, KindError>> listErrors(const Report &report) {
  std::vector<std::pair<std::string, KindError>> rows(report.modelError.begin(),
                                                      report.modelError.end());
  sortStably(rows,
             [](const auto &a, const auto &b) { return a.second.measured > b.second.measured; });
  return rows;
}

} // namespace reprise
