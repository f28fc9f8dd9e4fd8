// reprise: the report as one self-contained page: the arena over the step, and the values
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<'   ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '&' ? "&amp;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
  return escaped;
}

static int64_t integer(const Object &object, StringRef key) {
  return object.getInteger(key).value_or(0);
}

/// Bytes as a reader says them.
static std::string human(int64_t bytes) {
  if (bytes >= (int64_t{1} << 20))
    return formatv("{0:f1} MiB", bytes / 1048576.0).str();
  return bytes >= 1024 ? formatv("{0:f1} KiB", bytes / 1024.0).str()
                       : formatv("{0} B", bytes).str();
}

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
  stream
      << "<!DOCTYPE html>\n<html lang='en'><meta charset='utf-8'><title>Reprise: the arena over "
         "the step</title>\n"
         "<style>body{font:14px system-ui,sans-serif;margin:2em auto;max-width:1160px;color:#222}"
         "svg{width:100%;font-size:11px}table{border-collapse:collapse;margin:1em 0}"
         "th,td{text-align:left;padding:2px 10px 2px 0;border-bottom:1px solid "
         "#ddd}.number{text-align:right}"
         ".totals th{font-weight:normal;color:#666}</style>\n"
         "<h1>The arena over the step</h1>\n"
         "<p>Each box is one buffer: as wide as its life in launches, as high as its bytes, at its "
         "offset. Point at "
         "one for its name.</p>\n";
  printTotals(stream, report);
  printArena(stream, report);
  printErrors(stream, report);
  printLayers(stream, report);
  stream << "</html>\n";
}

} // namespace reprise
