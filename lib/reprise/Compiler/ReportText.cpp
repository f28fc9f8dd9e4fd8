// reprise: the report as plain text
#include "Report.h"

#include "reprise/Support/Readable.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

static void printValues(raw_ostream &stream, ArrayRef<const ReportedValue *> values) {
  stream << formatv("{0,10}  {1,-17}  {2,-18}  {3,-24}  value\n", "size", "decision", "label",
                    "reason");
  for (const ReportedValue *value : values)
    stream << formatv("{0,10}  {1,-17}  {2,-18}  {3,-24}  {4}\n", showBytes(value->bytes),
                      readDecision(*value), StringRef(getText(value->label)), value->reason,
                      value->id);
}

static void printLayers(raw_ostream &stream, const std::vector<LayerSummary> &layers) {
  stream << formatv("\n{0,10}  {1,10}  {2,14}  layer\n", "saved", "replayed", "replay seconds");
  for (const LayerSummary &layer : layers)
    stream << formatv("{0,10}  {1,10}  {2,14:e2}  {3}\n", showBytes(layer.savedBytes),
                      showBytes(layer.replayedBytes), layer.replaySeconds,
                      layer.layer.empty() ? "(none)" : layer.layer);
}

static void printErrors(raw_ostream &stream, const Report &report) {
  if (report.modelError.empty())
    return;
  stream << formatv("\n{0,8}  {1,16}  {2,16}  {3,14}  kind\n", "ops", "measured seconds",
                    "modelled seconds", "relative error");
  for (const auto &[kind, error] : listErrors(report))
    stream << formatv("{0,8}  {1,16:e2}  {2,16:e2}  {3,13:f1}%  {4}\n",
                      static_cast<int64_t>(error.ops), error.measured, error.modelled,
                      100 * error.relative(), kind);
}

/// Width of the names of rows before their figures.
static constexpr int kNameWidth = 34;

void printBytes(raw_ostream &stream, StringRef name, int64_t bytes) {
  stream << left_justify(name, kNameWidth) << " " << showBytesExactly(bytes) << "\n";
}

static void printCount(raw_ostream &stream, StringRef name, int64_t count,
                       const std::string &more = "") {
  stream << left_justify(name, kNameWidth) << " " << groupDigits(count) << more << "\n";
}

void printStepBytes(raw_ostream &stream, const Report &report) {
  printBytes(stream, "arena", report.arenaBytes);
  printBytes(stream, "workspace", report.workspaceBytes);
  printBytes(stream, "arena and workspace", report.stepBytes());
  printBytes(stream, "parameters, state and inputs", report.persistentBytes);
  if (report.hostBytes)
    printBytes(stream, "in the host's memory", report.hostBytes);
}

static void printBudget(raw_ostream &stream, const Report &report) {
  if (report.budget)
    printBytes(stream, "budget of arena and workspace", report.budget->bytes);
  if (!report.budget || !report.budget->search) {
    if (report.costIncrease)
      stream << readCost(report) << "\n";
    return;
  }
  const ReportedSearch &search = *report.budget->search;
  printBytes(stream, "the same if all values are saved", search.saveAllBytes);
  printBytes(stream, "the same without a budget", search.usualBytes);
  printBytes(stream, "values against their PREFER", search.overriddenBytes);
  printCount(stream, "plans packed", search.rounds);
  stream << readCost(report) << "\n";
  std::vector<const ReportedValue *> values = listOverridden(report);
  if (values.empty())
    return;
  stream << "\n" << values.size() << " values whose PREFER the budget overrides\n";
  printValues(stream, values);
}

static void printTotals(raw_ostream &stream, const Report &report) {
  printStepBytes(stream, report);
  printBytes(stream, "saved for the backward pass", report.plan ? report.plan->savedBytes : 0);
  printCount(stream, "replayed ops", report.plan ? report.plan->replayedOps : 0);
  printCount(stream, "commands of a step", report.commands.value_or(0));
  for (const auto &[kind, sum] : sumByKind(report))
    printBytes(stream, "sent to other devices, " + kind, sum.bytes);
  for (const auto &[function, launches] : report.libraryCalls)
    printCount(stream, function, launches);
  for (const auto &[callee, call] : report.hostCalls)
    printCount(stream, "calls of the host", call.launches, "  " + callee);
  for (const ReportedOwn &own : report.ownContractions)
    printCount(stream, "own kernel", own.launches,
               "  " + own.op + ": no library, since " + own.why);
  if (int64_t checks = report.replayChecks.value_or(0))
    printCount(stream, "replays that runs check", checks,
               "  both live to the end of the step: the arena is larger for it");
}

std::string summarize(const Report &report) {
  std::string cost = readCost(report);
  ReportedPlan none;
  const ReportedPlan &plan = report.plan ? *report.plan : none;
  double whole = plan.cost.forward + plan.cost.backward;
  if (cost.empty())
    cost = "replays cost " + showPercent(whole > 0 ? 100 * plan.cost.replay / whole : 0);
  std::string host = report.hostBytes ? ", on the host " + showBytes(report.hostBytes) : "";
  return formatv("arena {0}, workspace {1}, saved {2}{3}, {4} replayed ops, {5}",
                 showBytes(report.arenaBytes), showBytes(report.workspaceBytes),
                 showBytes(plan.savedBytes), host, plan.replayedOps, cost)
      .str();
}

void printText(raw_ostream &stream, const Report &report) {
  printTotals(stream, report);
  printBudget(stream, report);
  printErrors(stream, report);
  std::vector<const ReportedValue *> values = listValues(report);
  if (values.empty())
    return;
  std::vector<LayerSummary> layers = summarizeLayers(report);
  printLayers(stream, layers);
  constexpr size_t most = 20;
  if (values.size() > most) {
    stream << "\nlargest values\n";
    printValues(stream, ArrayRef(values).take_front(most));
  }
  for (const LayerSummary &layer : layers) {
    stream << "\n" << (layer.layer.empty() ? "outside of layers" : layer.layer) << "\n";
    printValues(stream, layer.values);
  }
}

} // namespace reprise
