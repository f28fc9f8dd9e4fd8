// reprise: seconds of the cost model in reports
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using llvm::json::Object;

namespace reprise {

static int64_t countBytes(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getByteSize(value.getType());
  return bytes;
}

double countAloneSeconds(Operation *op, const CostModel &costs) {
  // A view moves nothing: its readers take the elements from where they are.
  int64_t bytes = isa<ViewOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>()
                      ? 0
                      : countBytes(op->getOperands()) + countBytes(op->getResults());
  return costs.getSeconds(op, bytes) * static_cast<double>(countExecutions(op));
}

/// Adds the launch's seconds to the parts of its ops, in the proportion of what each takes alone.
static void addSeconds(exec::LaunchOp launch, const CostModel &costs, double (&seconds)[3]) {
  auto parts = launch->getAttrOfType<DenseI64ArrayAttr>(exec::kPartsAttr);
  SmallVector<Operation *> ops;
  for (Operation &op : launch.getBody().front().without_terminator())
    ops.push_back(&op);
  if (!parts || parts.size() != static_cast<int64_t>(ops.size()))
    return;
  double whole =
      costs.getLaunchSeconds() +
      costs.getSeconds(ops, countBytes(launch.getInputs()) + countBytes(launch.getResults()));
  whole *= static_cast<double>(countExecutions(launch));
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

static Object describeErrors(const CostModel &costs) {
  Object kinds;
  for (const auto &[kind, error] : costs.getErrors())
    kinds[kind] =
        Object{{"ops", static_cast<int64_t>(error.ops)},
               {"measured_seconds", error.measured},
               {"modelled_seconds", error.modelled},
               {"relative_error", error.measured > 0 ? error.deviation / error.measured : 0.0}};
  return kinds;
}

void describeCosts(func::FuncOp step, const CostModel &costs, Object &report) {
  if (!report.get("values"))
    return;
  double seconds[3] = {};
  step.walk([&](exec::LaunchOp launch) { addSeconds(launch, costs, seconds); });
  report["cost"] =
      Object{{"forward", seconds[0]}, {"backward", seconds[1]}, {"replay", seconds[2]}};
  report["device"] = costs.getRates().name;
  if (!costs.getErrors().empty())
    report["model_error"] = describeErrors(costs);
}

std::vector<ErrorRow> listErrors(const Object &report) {
  std::vector<ErrorRow> rows;
  if (const Object *kinds = report.getObject("model_error"))
    for (const auto &[kind, value] : *kinds) {
      const Object &error = *value.getAsObject();
      rows.push_back({StringRef(kind).str(), error.getInteger("ops").value_or(0),
                      error.getNumber("measured_seconds").value_or(0),
                      error.getNumber("modelled_seconds").value_or(0),
                      error.getNumber("relative_error").value_or(0)});
    }
  llvm::sort(rows, [](const ErrorRow &a, const ErrorRow &b) {
    return std::make_pair(b.measured, a.kind) < std::make_pair(a.measured, b.kind);
  });
  return rows;
}

} // namespace reprise
