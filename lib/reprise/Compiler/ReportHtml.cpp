// reprise: the report as one self-contained page: the arena over the step, and the values
#include "Html.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using reprise::html::escape;
using reprise::html::human;

namespace reprise {

/// One colour for each scope of a model, by its text.
static unsigned hueOf(StringRef name) {
  unsigned hash = 7;
  for (unsigned char c :
       name.split(' ').second.take_until([](char letter) { return letter == '#'; }).bytes())
    hash = hash * 31 + c;
  return hash % 360;
}

static constexpr double width = 1080, height = 420;

/// Rectangles: launches from left to right, bytes of the arena from bottom to top.
static void printArena(raw_ostream &stream, const Report &report) {
  int64_t arena = std::max<int64_t>(1, report.arenaBytes), launches = 1;
  for (const ReportedBuffer &buffer : report.buffers)
    launches = std::max(launches, buffer.last + 1);
  stream << formatv("<svg viewBox='-64 -8 {0} {1}' role='img'>\n", width + 72, height + 40);
  stream << formatv("<rect width='{0}' height='{1}' fill='#f4f4f1'/>\n", width, height);
  for (const ReportedBuffer &buffer : report.buffers) {
    double x = width * buffer.first / launches;
    double right = width * (buffer.last + 1) / launches;
    double bytes = height * buffer.bytes / arena;
    double y = height - height * buffer.offset / arena - bytes;
    stream << formatv(
        "<rect x='{0:f2}' y='{1:f2}' width='{2:f2}' height='{3:f2}' fill='hsl({4},45%,62%)'>"
        "<title>{5}: {6}, launches {7} to {8}</title></rect>\n",
        x, y, std::max(0.5, right - x), bytes, hueOf(buffer.name), escape(buffer.name),
        human(buffer.bytes), buffer.first, buffer.last);
  }
  stream << formatv("<text x='-6' y='10' text-anchor='end'>{0}</text><text x='-6' y='{1}' "
                    "text-anchor='end'>0</text>",
                    human(arena), height);
  stream << formatv("<text x='0' y='{0}'>launch 0</text><text x='{1}' y='{0}' "
                    "text-anchor='end'>{2}</text></svg>\n",
                    height + 20, width, launches - 1);
}

static void printTotals(raw_ostream &stream, const Report &report) {
  stream << "<table class='totals'><tr>";
  auto cell = [&](StringRef key, const std::string &value) {
    stream << "<th>" << key << "</th><td>" << value << "</td>";
  };
  cell("arena_bytes", human(report.arenaBytes));
  cell("persistent_bytes", human(report.persistentBytes));
  cell("workspace_bytes", human(report.workspaceBytes));
  cell("saved_bytes", human(report.plan ? report.plan->savedBytes : 0));
  cell("replayed_ops", std::to_string(report.plan ? report.plan->replayedOps : 0));
  cell("commands", std::to_string(report.commands.value_or(0)));
  stream << "</tr></table>\n";
  if (int64_t checks = report.replayChecks.value_or(0))
    stream << "<p>Runs compare " << checks
           << " replays with their originals: both live to the end of the step, in an "
              "arena larger than without --verify-replays.</p>\n";
}

static void printValues(raw_ostream &stream, ArrayRef<const ReportedValue *> values) {
  stream << "<table><tr><th>value</th><th>bytes</th><th>decision</th><th>label</th><th>rule</"
            "th><th>reason</th></tr>\n";
  for (const ReportedValue *value : values)
    stream << "<tr><td>" << escape(value->id) << "</td><td class='number'>" << human(value->bytes)
           << "</td><td>" << readDecision(*value) << "</td><td>" << value->label.value_or("")
           << "</td><td>" << escape(value->rule.value_or("")) << "</td><td>"
           << escape(value->reason) << "</td></tr>\n";
  stream << "</table>\n";
}

static void printBudget(raw_ostream &stream, const Report &report) {
  if (!report.budget)
    return;
  stream << "<p>Budget " << human(report.budget->bytes) << ", "
         << human(report.arenaBytes + report.workspaceBytes) << " taken";
  if (!report.budget->search) {
    stream << " by the plan of --plan-in</p>\n";
    return;
  }
  const ReportedSearch &search = *report.budget->search;
  stream << "; " << human(search.saveAllBytes) << " if every value were saved: <b>"
         << readCost(report) << "</b>, " << search.rounds << " rounds, "
         << human(search.overriddenBytes) << " of PREFER overridden</p>\n";
  std::vector<const ReportedValue *> values = listOverridden(report);
  if (values.empty())
    return;
  stream << "<details><summary>" << values.size() << " values whose PREFER the budget overrides"
         << "</summary>\n";
  printValues(stream, values);
  stream << "</details>\n";
}

/// Two bars per layer: what it saves, and what it computes again.
static void printBars(raw_ostream &stream, const Report &report) {
  std::vector<LayerSummary> layers = summarizeLayers(report);
  int64_t most = 1;
  for (const LayerSummary &layer : layers)
    most = std::max({most, layer.savedBytes, layer.replayedBytes});
  if (layers.empty())
    return;
  constexpr double left = 200, longest = width - left - 90, pitch = 26;
  stream
      << "<h2>Saved and computed again, by layer</h2>\n<p>Upper bars are saved bytes, lower ones "
         "are bytes computed again, fused values included.</p>\n";
  stream << formatv("<svg class='layers' viewBox='0 0 {0} {1}' role='img'>\n", width,
                    pitch * layers.size() + 4);
  auto bar = [&](double y, int64_t bytes, StringRef colour, StringRef what) {
    double length = longest * bytes / most;
    stream << formatv("<rect x='{0}' y='{1}' width='{2:f2}' height='10' fill='{3}'><title>{4} {5}"
                      "</title></rect><text x='{6:f2}' y='{7}'>{4}</text>\n",
                      left, y, length, colour, human(bytes), what, left + length + 5, y + 9);
  };
  for (auto [i, layer] : llvm::enumerate(layers)) {
    double y = pitch * i + 2;
    stream << formatv("<text x='{0}' y='{1}' text-anchor='end'>{2}</text>\n", left - 8, y + 14,
                      escape(layer.layer.empty() ? "outside of layers" : layer.layer));
    bar(y, layer.savedBytes, "#4477aa", "saved");
    bar(y + 11, layer.replayedBytes, "#cc8844", "computed again");
  }
  stream << "</svg>\n";
}

/// A layer is one line, which opens on its values.
static void printLayers(raw_ostream &stream, const Report &report) {
  std::vector<const ReportedValue *> values = listValues(report);
  if (values.empty())
    return;
  stream << "<h2>The largest values of the forward pass</h2>\n";
  printValues(stream, ArrayRef(values).take_front(20));
  stream << "<h2>All values, by layer</h2>\n";
  for (const LayerSummary &layer : summarizeLayers(report)) {
    stream << "<details><summary>"
           << escape(layer.layer.empty() ? "outside of layers" : layer.layer) << ": "
           << human(layer.savedBytes) << " saved, " << human(layer.replayedBytes)
           << formatv(" computed again in {0:e2} s of the cost model</summary>\n",
                      layer.replaySeconds);
    printValues(stream, layer.values);
    stream << "</details>\n";
  }
}

static void printErrors(raw_ostream &stream, const Report &report) {
  if (report.modelError.empty())
    return;
  stream << "<h2>The cost model beside the profile</h2>\n<table><tr><th>kind</th><th>ops</th>"
            "<th>measured seconds</th><th>modelled seconds</th><th>relative error</th></tr>\n";
  for (const auto &[kind, error] : listErrors(report))
    stream << formatv("<tr><td>{0}</td><td class='number'>{1}</td><td class='number'>{2:e2}</td>"
                      "<td class='number'>{3:e2}</td><td class='number'>{4:f1} %</td></tr>\n",
                      escape(kind), static_cast<int64_t>(error.ops), error.measured, error.modelled,
                      100 * error.relative());
  stream << "</table>\n";
}

void printHtml(raw_ostream &stream, const Report &report) {
  html::printStart(stream, "The arena over the step");
  printTotals(stream, report);
  printBudget(stream, report);
  stream << "<p>Each box is one buffer: as wide as its life in launches, as high as its bytes, at "
            "its offset. Point at one for its name.</p>\n";
  printArena(stream, report);
  printBars(stream, report);
  printErrors(stream, report);
  printLayers(stream, report);
  html::printEnd(stream);
}

} // namespace reprise
