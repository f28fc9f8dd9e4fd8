// reprise: the report as plain text
#include "Html.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

static void printValues(raw_ostream &stream, ArrayRef<const ReportedValue *> values) {
  stream << formatv("{0,14}  {1,-17}  {2,-18}  {3,-24}  value\n", "bytes", "decision", "label",
                    "reason");
  for (const ReportedValue *value : values)
    stream << formatv("{0,14}  {1,-17}  {2,-18}  {3,-24}  {4}\n", value->bytes,
                      readDecision(*value), value->label.value_or(""), value->reason, value->id);
}

static void printLayers(raw_ostream &stream, const std::vector<LayerSummary> &layers) {
  stream << formatv("\n{0,14}  {1,14}  {2,14}  layer\n", "saved bytes", "replayed bytes",
                    "replay seconds");
  for (const LayerSummary &layer : layers)
    stream << formatv("{0,14}  {1,14}  {2,14:e2}  {3}\n", layer.savedBytes, layer.replayedBytes,
                      layer.replaySeconds, layer.layer.empty() ? "(none)" : layer.layer);
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

static void printTotal(raw_ostream &stream, StringRef key, int64_t value) {
  stream << formatv("{0,-18}{1,16}\n", key, value);
}

static void printBudget(raw_ostream &stream, const Report &report) {
  if (report.budget)
    printTotal(stream, "budget", report.budget->bytes);
  if (!report.budget || !report.budget->search) {
    if (report.costIncrease)
      stream << readCost(report) << "\n";
    return;
  }
  const ReportedSearch &search = *report.budget->search;
  printTotal(stream, "save_all_bytes", search.saveAllBytes);
  printTotal(stream, "usual_bytes", search.usualBytes);
  printTotal(stream, "overridden_bytes", search.overriddenBytes);
  printTotal(stream, "rounds", search.rounds);
  stream << readCost(report) << "\n";
  std::vector<const ReportedValue *> values = listOverridden(report);
  if (values.empty())
    return;
  stream << "\n" << values.size() << " values whose PREFER the budget overrides\n";
  printValues(stream, values);
}

static void printTotals(raw_ostream &stream, const Report &report) {
  printTotal(stream, "arena_bytes", report.arenaBytes);
  printTotal(stream, "persistent_bytes", report.persistentBytes);
  printTotal(stream, "workspace_bytes", report.workspaceBytes);
  if (report.hostBytes)
    printTotal(stream, "host_bytes", report.hostBytes);
  printTotal(stream, "saved_bytes", report.plan ? report.plan->savedBytes : 0);
  printTotal(stream, "replayed_ops", report.plan ? report.plan->replayedOps : 0);
  printTotal(stream, "commands", report.commands.value_or(0));
  for (const auto &[function, launches] : report.libraryCalls)
    printTotal(stream, function, launches);
  for (const ReportedOwn &own : report.ownContractions)
    stream << formatv("{0,-18}{1,16}  {2}: no library, since {3}\n", "own kernel", own.launches,
                      own.op, own.why);
  if (int64_t checks = report.replayChecks.value_or(0))
    stream << formatv(
        "{0,-18}{1,16}  both live to the end of the step: the arena is larger for it\n",
        "replay_checks", checks);
}

std::string summarize(const Report &report) {
  std::string cost = readCost(report);
  ReportedPlan none;
  const ReportedPlan &plan = report.plan ? *report.plan : none;
  double whole = plan.cost.forward + plan.cost.backward;
  if (cost.empty())
    cost = "replays cost " + html::percent(whole > 0 ? plan.cost.replay / whole : 0);
  std::string host = report.hostBytes ? ", on the host " + html::human(report.hostBytes) : "";
  return formatv("arena {0}, workspace {1}, saved {2}{3}, {4} replayed ops, {5}",
                 html::human(report.arenaBytes), html::human(report.workspaceBytes),
                 html::human(plan.savedBytes), host, plan.replayedOps, cost)
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
