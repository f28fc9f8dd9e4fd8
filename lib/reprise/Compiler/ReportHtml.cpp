// reprise: the report as one self-contained page: the arena over the step, and the values
#include "Html.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;
using reprise::html::escape;
using reprise::html::human;
using reprise::html::integer;

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
static void printArena(raw_ostream &stream, const Object &report) {
  const Array *buffers = report.getArray("buffers");
  int64_t arena = std::max<int64_t>(1, integer(report, "arena_bytes")), launches = 1;
  if (!buffers)
    return;
  for (const json::Value &value : *buffers)
    launches = std::max(launches, integer(*value.getAsObject(), "last") + 1);
  stream << formatv("<svg viewBox='-64 -8 {0} {1}' role='img'>\n", width + 72, height + 40);
  stream << formatv("<rect width='{0}' height='{1}' fill='#f4f4f1'/>\n", width, height);
  for (const json::Value &value : *buffers) {
    const Object &buffer = *value.getAsObject();
    double x = width * integer(buffer, "first") / launches;
    double right = width * (integer(buffer, "last") + 1) / launches;
    double bytes = height * integer(buffer, "bytes") / arena;
    double y = height - height * integer(buffer, "offset") / arena - bytes;
    StringRef name = buffer.getString("name").value_or("");
    stream << formatv(
        "<rect x='{0:f2}' y='{1:f2}' width='{2:f2}' height='{3:f2}' fill='hsl({4},45%,62%)'>"
        "<title>{5}: {6}, launches {7} to {8}</title></rect>\n",
        x, y, std::max(0.5, right - x), bytes, hueOf(name), escape(name),
        human(integer(buffer, "bytes")), integer(buffer, "first"), integer(buffer, "last"));
  }
  stream << formatv("<text x='-6' y='10' text-anchor='end'>{0}</text><text x='-6' y='{1}' "
                    "text-anchor='end'>0</text>",
                    human(arena), height);
  stream << formatv("<text x='0' y='{0}'>launch 0</text><text x='{1}' y='{0}' "
                    "text-anchor='end'>{2}</text></svg>\n",
                    height + 20, width, launches - 1);
}

static void printTotals(raw_ostream &stream, const Object &report) {
  stream << "<table class='totals'><tr>";
  for (StringRef key : {"arena_bytes", "persistent_bytes", "workspace_bytes", "saved_bytes"})
    stream << "<th>" << key << "</th><td>" << human(integer(report, key)) << "</td>";
  for (StringRef key : {"replayed_ops", "commands"})
    stream << "<th>" << key << "</th><td>" << integer(report, key) << "</td>";
  stream << "</tr></table>\n";
  if (int64_t checks = integer(report, "replay_checks"))
    stream << "<p>Runs compare " << checks
           << " replays with their originals: both live to the end of the step, in an "
              "arena larger than without --verify-replays.</p>\n";
}

static void printValues(raw_ostream &stream, ArrayRef<const Object *> rows) {
  stream << "<table><tr><th>value</th><th>bytes</th><th>decision</th><th>label</th><th>rule</"
            "th><th>reason</th></tr>\n";
  for (const Object *row : rows) {
    stream << "<tr><td>" << escape(row->getString("id").value_or("")) << "</td><td class='number'>"
           << human(integer(*row, "bytes")) << "</td><td>" << readDecision(*row) << "</td>";
    for (StringRef key : {"label", "rule", "reason"})
      stream << "<td>" << escape(row->getString(key).value_or("")) << "</td>";
    stream << "</tr>\n";
  }
  stream << "</table>\n";
}

static void printBudget(raw_ostream &stream, const Object &report) {
  const Object *budget = report.getObject("budget");
  if (!budget)
    return;
  int64_t taken = integer(report, "arena_bytes") + integer(report, "workspace_bytes");
  stream << "<p>Budget " << human(integer(*budget, "bytes")) << ", " << human(taken) << " taken";
  std::string cost = readCost(report);
  if (cost.empty()) {
    stream << " by the plan of --plan-in</p>\n";
    return;
  }
  stream << "; " << human(integer(*budget, "save_all_bytes")) << " if every value were saved: <b>"
         << cost << "</b>, " << integer(*budget, "rounds") << " rounds, "
         << human(integer(*budget, "overridden_bytes")) << " of PREFER overridden</p>\n";
  std::vector<const Object *> rows = findOverridden(report);
  if (rows.empty())
    return;
  stream << "<details><summary>" << rows.size() << " values whose PREFER the budget overrides"
         << "</summary>\n";
  printValues(stream, rows);
  stream << "</details>\n";
}

/// Two bars per layer: what it saves, and what it computes again.
static void printBars(raw_ostream &stream, const Object &report) {
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
static void printLayers(raw_ostream &stream, const Object &report) {
  std::vector<const Object *> rows = valuesByBytes(report);
  if (rows.empty())
    return;
  stream << "<h2>The largest values of the forward pass</h2>\n";
  printValues(stream, ArrayRef(rows).take_front(20));
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

static void printErrors(raw_ostream &stream, const Object &report) {
  std::vector<ErrorRow> rows = listErrors(report);
  if (rows.empty())
    return;
  stream << "<h2>The cost model beside the profile</h2>\n<table><tr><th>kind</th><th>ops</th>"
            "<th>measured seconds</th><th>modelled seconds</th><th>relative error</th></tr>\n";
  for (const ErrorRow &row : rows)
    stream << formatv("<tr><td>{0}</td><td class='number'>{1}</td><td class='number'>{2:e2}</td>"
                      "<td class='number'>{3:e2}</td><td class='number'>{4:f1} %</td></tr>\n",
                      escape(row.kind), row.ops, row.measured, row.modelled, 100 * row.relative);
  stream << "</table>\n";
}

void printHtml(raw_ostream &stream, const Object &report) {
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
