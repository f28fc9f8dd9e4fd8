// reprise: the report as one self-contained page: the arena over the step, and the values
#include "Html.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using reprise::html::escape;

namespace reprise {

static void printTotals(raw_ostream &stream, const Report &report) {
  stream << "<dl class='totals'>";
  auto total = [&](StringRef term, const std::string &text) {
    stream << "<div><dt>" << term << "</dt><dd>" << text << "</dd></div>";
  };
  auto bytes = [&](StringRef term, int64_t count) { total(term, showBytes(count)); };
  bytes("arena", report.arenaBytes);
  bytes("workspace", report.workspaceBytes);
  bytes("arena and workspace, which budgets bound", report.stepBytes());
  bytes("parameters, state and inputs", report.persistentBytes);
  if (report.hostBytes)
    bytes("in the host's memory", report.hostBytes);
  if (report.plan) {
    bytes("saved for the backward pass", report.plan->savedBytes);
    total("replayed ops", std::to_string(report.plan->replayedOps));
  }
  if (report.commands)
    total("commands of a step", std::to_string(*report.commands));
  PartSeconds cost = report.plan ? report.plan->cost : PartSeconds();
  if (double whole = cost.forward + cost.backward + cost.replay; whole > 0)
    total("of the time, replays take", formatv("{0:f2} %", 100 * cost.replay / whole).str());
  stream << "</dl>\n";
  if (int64_t checks = report.replayChecks.value_or(0))
    stream << "<p>Runs compare " << checks
           << " replays with their originals: both live to the end of the step, in an "
              "arena larger than without --verify-replays.</p>\n";
}

static void printCell(raw_ostream &stream, double number, const std::string &text) {
  stream << formatv("<td class='number' data-value='{0:e6}'>{1}</td>", number, text);
}

/// A table that sorts and filters: one row per value.
static void printValues(raw_ostream &stream, ArrayRef<const ReportedValue *> values) {
  stream << "<div class='wide'><table class='data'><thead><tr><th>value</th><th>bytes</th><th>"
            "decision</th><th>why</th><th>label</th><th>rule</th><th>seconds to replay</th><th>"
            "layer</th><th>source</th></tr></thead><tbody>\n";
  for (const ReportedValue *value : values) {
    stream << "<tr><td>" << escape(value->id) << "</td>";
    printCell(stream, static_cast<double>(value->bytes), showBytes(value->bytes));
    stream << "<td>" << readDecision(*value) << "</td><td>" << escape(explainDecision(*value))
           << "</td><td>" << getText(value->label) << "</td><td>"
           << escape(value->rule.value_or("")) << "</td>";
    printCell(stream, value->replaySeconds, formatv("{0:e2}", value->replaySeconds).str());
    stream << "<td>" << escape(value->layer) << "</td><td>" << escape(describePlace(*value))
           << "</td></tr>\n";
  }
  stream << "</tbody></table></div>\n";
}

static void printBudget(raw_ostream &stream, const Report &report) {
  if (!report.budget) {
    if (report.costIncrease)
      stream << "<p>The plan of --plan-in: <b>" << readCost(report) << "</b>.</p>\n";
    return;
  }
  stream << "<p>The budget is " << showBytes(report.budget->bytes) << "; the step takes "
         << showBytes(report.stepBytes());
  if (!report.budget->search) {
    stream << " by the plan of --plan-in: <b>" << readCost(report) << "</b>.</p>\n";
    return;
  }
  const ReportedSearch &search = *report.budget->search;
  stream << ", and would take " << showBytes(search.saveAllBytes)
         << " if every value were saved. This plan: <b>" << readCost(report)
         << "</b>. Plans packed to find it: " << search.rounds
         << ". Bytes against their PREFER labels: " << showBytes(search.overriddenBytes)
         << ".</p>\n";
  std::vector<const ReportedValue *> values = listOverridden(report);
  if (values.empty())
    return;
  stream << "<details><summary>" << values.size() << " values whose PREFER the budget overrides"
         << "</summary>\n";
  printValues(stream, values);
  stream << "</details>\n";
}

/// Prints two bars per layer: its saved bytes, and its replayed bytes.
static void printBars(raw_ostream &stream, const Report &report) {
  std::vector<LayerSummary> layers = summarizeLayers(report);
  int64_t most = 1;
  for (const LayerSummary &layer : layers)
    most = std::max({most, layer.savedBytes, layer.replayedBytes});
  if (layers.empty())
    return;
  stream << "<h2>Saved and computed again, by layer</h2>\n<div class='legend'><span><i "
            "class='saved'></i>saved</span><span><i class='replay'></i>computed again, fused "
            "values included</span></div>\n<table class='bars'>\n";
  auto bar = [&](int64_t bytes, StringRef kind, StringRef what) {
    stream << formatv("<span class='{0}' style='width:{1:f2}%' title='{2} {3}'></span>", kind,
                      100.0 * bytes / most, showBytes(bytes), what);
  };
  for (const LayerSummary &layer : layers) {
    stream << "<tr><th>" << escape(layer.layer.empty() ? "outside of layers" : layer.layer)
           << "</th><td>";
    bar(layer.savedBytes, "saved", "saved");
    bar(layer.replayedBytes, "replay", "computed again");
    stream << "</td><td class='number'>" << showBytes(layer.savedBytes) << "<br>"
           << showBytes(layer.replayedBytes) << "</td></tr>\n";
  }
  stream << "</table>\n";
}

static void printAllValues(raw_ostream &stream, const Report &report) {
  std::vector<const ReportedValue *> values = listValues(report);
  if (values.empty())
    return;
  stream << "<h2>The values of the forward pass</h2>\n<p>The largest first; a click on a heading "
            "sorts.</p>\n";
  printValues(stream, values);
}

static void printErrors(raw_ostream &stream, const Report &report) {
  if (report.modelError.empty())
    return;
  stream << "<h2>The cost model beside the profile</h2>\n<div class='wide'><table><tr><th>kind</th>"
            "<th>ops</th><th>measured seconds</th><th>modelled seconds</th><th>relative error"
            "</th></tr>\n";
  for (const auto &[kind, error] : listErrors(report))
    stream << formatv("<tr><td>{0}</td><td class='number'>{1}</td><td class='number'>{2:e2}</td>"
                      "<td class='number'>{3:e2}</td><td class='number'>{4:f1} %</td></tr>\n",
                      escape(kind), static_cast<int64_t>(error.ops), error.measured, error.modelled,
                      100 * error.relative());
  stream << "</table></div>\n";
}

static void printProgram(raw_ostream &stream, const Report &report) {
  printTotals(stream, report);
  printBudget(stream, report);
  printArenaHtml(stream, report);
  printBars(stream, report);
  printErrors(stream, report);
  printAllValues(stream, report);
}

/// Prints the page. The head is that of the first program; several programs have headings.
void printHtml(raw_ostream &stream, ArrayRef<CompiledProgram> programs,
               const std::optional<ReportedPipeline> &pipeline) {
  const Report &first = programs.front().report;
  html::PageHead head{first.inputs, first.target, first.threads, std::nullopt};
  if (first.budget)
    head.budget = first.budget->bytes;
  html::printStart(stream, "what is kept and what is computed again", head);
  if (pipeline)
    printPipelineHtml(stream, *pipeline);
  for (const CompiledProgram &program : programs) {
    if (programs.size() > 1)
      stream << "<h2>" << escape(describeProgram(program)) << "</h2>\n";
    printProgram(stream, program.report);
  }
  html::printEnd(stream);
}

} // namespace reprise
