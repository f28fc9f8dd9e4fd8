// reprise: the report as plain text
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static void printValues(raw_ostream &stream, ArrayRef<const Object *> rows) {
  stream << formatv("{0,14}  {1,-17}  {2,-18}  {3,-24}  value\n", "bytes", "decision", "label",
                    "reason");
  for (const Object *row : rows)
    stream << formatv("{0,14}  {1,-17}  {2,-18}  {3,-24}  {4}\n",
                      row->getInteger("bytes").value_or(0), readDecision(*row),
                      row->getString("label").value_or(""), row->getString("reason").value_or(""),
                      row->getString("id").value_or(""));
}

static void printLayers(raw_ostream &stream, const Object &report) {
  std::vector<LayerSummary> layers = summarizeLayers(report);
  stream << formatv("\n{0,14}  {1,14}  {2,14}  layer\n", "saved bytes", "replayed bytes",
                    "replay seconds");
  for (const LayerSummary &layer : layers)
    stream << formatv("{0,14}  {1,14}  {2,14:e2}  {3}\n", layer.savedBytes, layer.replayedBytes,
                      layer.replaySeconds, layer.layer.empty() ? "(none)" : layer.layer);
}

static void printErrors(raw_ostream &stream, const Object &report) {
  std::vector<ErrorRow> rows = listErrors(report);
  if (rows.empty())
    return;
  stream << formatv("\n{0,8}  {1,16}  {2,16}  {3,14}  kind\n", "ops", "measured seconds",
                    "modelled seconds", "relative error");
  for (const ErrorRow &row : rows)
    stream << formatv("{0,8}  {1,16:e2}  {2,16:e2}  {3,13:f1}%  {4}\n", row.ops, row.measured,
                      row.modelled, 100 * row.relative, row.kind);
}

static void printBudget(raw_ostream &stream, const Object &report) {
  const Object *budget = report.getObject("budget");
  if (!budget)
    return;
  stream << formatv("{0,-18}{1,16}\n", "budget", budget->getInteger("bytes").value_or(0));
  std::string cost = readCost(report);
  if (cost.empty())
    return;
  for (StringRef key : {"save_all_bytes", "overridden_bytes", "rounds"})
    stream << formatv("{0,-18}{1,16}\n", key, budget->getInteger(key).value_or(0));
  stream << cost << "\n";
  std::vector<const Object *> rows = findOverridden(report);
  if (rows.empty())
    return;
  stream << "\n" << rows.size() << " values whose PREFER the budget overrides\n";
  printValues(stream, rows);
}

void printText(raw_ostream &stream, const Object &report) {
  for (StringRef key : {"arena_bytes", "persistent_bytes", "workspace_bytes", "saved_bytes",
                        "replayed_ops", "commands"})
    stream << formatv("{0,-18}{1,16}\n", key, report.getInteger(key).value_or(0));
  if (int64_t checks = report.getInteger("replay_checks").value_or(0))
    stream << formatv(
        "{0,-18}{1,16}  both live to the end of the step: the arena is larger for it\n",
        "replay_checks", checks);
  printBudget(stream, report);
  printErrors(stream, report);
  std::vector<const Object *> rows = valuesByBytes(report);
  if (rows.empty())
    return;
  printLayers(stream, report);
  constexpr size_t most = 20;
  if (rows.size() > most) {
    stream << "\nlargest values\n";
    printValues(stream, ArrayRef(rows).take_front(most));
  }
  for (const LayerSummary &layer : summarizeLayers(report)) {
    stream << "\n" << (layer.layer.empty() ? "outside of layers" : layer.layer) << "\n";
    printValues(stream, layer.values);
  }
}

} // namespace reprise
