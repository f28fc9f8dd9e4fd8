// reprise: the memory/time curve as one self-contained page
#include "ChartLabels.h"
#include "Html.h"
#include "Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using llvm::json::Array;
using llvm::json::Object;
using reprise::html::escape;
using reprise::html::integer;
using reprise::html::number;
using reprise::html::percent;

namespace reprise {

static constexpr double width = 760, height = 400;

/// The objects of an array of the curve.
static std::vector<const Object *> list(const Object &curve, StringRef key) {
  std::vector<const Object *> objects;
  if (const Array *array = curve.getArray(key))
    for (const json::Value &value : *array)
      objects.push_back(value.getAsObject());
  return objects;
}

namespace {
/// Scale of a chart: bytes from left to right, from 0 on; cost from bottom to top, from that of the
/// cheapest plan on.
struct Scale {
  double mostBytes = 1, leastCost = 0, mostCost = 0.01;

  explicit Scale(const Object &curve);
  double x(double bytes) const { return width * bytes / mostBytes; }
  double y(double cost) const {
    return height - height * (cost - leastCost) / (mostCost - leastCost);
  }
};
} // namespace

Scale::Scale(const Object &curve) {
  for (StringRef key : {"points", "policies"})
    for (const Object *point : list(curve, key)) {
      mostBytes = std::max(mostBytes, 1.04 * static_cast<double>(integer(*point, "bytes")));
      mostCost = std::max(mostCost, 1.08 * number(*point, "cost_increase"));
      leastCost = std::min({leastCost, 1.08 * number(*point, "cost_increase"),
                            1.08 * point->getNumber("bound").value_or(0)});
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, … times `unit` that divides `range` into at most `most`
/// steps.
static double findStep(double range, double unit, int most) {
  for (double power = unit;; power *= 10)
    for (double digit : {1.0, 2.0, 5.0})
      if (range <= digit * power * most)
        return digit * power;
}

/// Returns a round number without trailing zeros.
static std::string shorten(double number) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", number);
  return text;
}

static std::string shortenBytes(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  const char *const *unit = units;
  for (; bytes >= 1024 && unit != std::end(units) - 1; bytes /= 1024)
    ++unit;
  return shorten(bytes) + " " + *unit;
}

static void printAxes(raw_ostream &stream, const Scale &scale) {
  stream << formatv("<rect class='ground' width='{0}' height='{1}'/>\n", width, height);
  double bytes = 1;
  while (scale.mostBytes > 8 * bytes)
    bytes *= 2;
  for (double at = 0; at <= scale.mostBytes; at += bytes)
    stream << formatv("<line x1='{0:f2}' x2='{0:f2}' y1='0' y2='{1}'/><text "
                      "x='{0:f2}' y='{2}' text-anchor='middle'>{3}</text>\n",
                      scale.x(at), height, height + 16, shortenBytes(at));
  double cost = findStep(scale.mostCost - scale.leastCost, 1e-4, 8);
  for (int i = static_cast<int>(std::ceil(scale.leastCost / cost)); i * cost <= scale.mostCost; ++i)
    stream << formatv("<line x1='0' x2='{0}' y1='{1:f2}' y2='{1:f2}'/><text x='-6' "
                      "y='{2:f2}' text-anchor='end'>{3}</text>\n",
                      width, scale.y(i * cost), scale.y(i * cost) + 4,
                      shorten(100 * i * cost) + " %");
  stream << formatv("<text x='{0}' y='{1}' text-anchor='end'>arena and workspace</text>\n", width,
                    height + 34);
}

static void printLine(raw_ostream &stream, const Object &curve, const Scale &scale, StringRef key,
                      StringRef kind) {
  stream << "<polyline class='" << kind << "' points='";
  for (const Object *point : list(curve, "points"))
    stream << formatv("{0:f2},{1:f2} ", scale.x(integer(*point, "bytes")),
                      scale.y(number(*point, key)));
  stream << "'/>\n";
}

static std::string describe(const Object &point) {
  std::string text =
      showBytes(integer(point, "bytes")) + ", " + percent(number(point, "cost_increase"));
  if (point.getNumber("bound"))
    text += "; " + showGap(100 * number(point, "cost_increase"), 100 * number(point, "bound"));
  return text;
}

/// Returns the bytes of a plan as a share of the bytes with all values saved.
static std::string share(const Object &curve, const Object &point) {
  double all = std::max<int64_t>(1, integer(curve, "save_all_bytes"));
  return formatv("{0:f0} %", 100 * static_cast<double>(integer(point, "bytes")) / all).str();
}

/// The dots and the ring, in the coordinates of the chart.
static constexpr double kDot = 4, kRing = 8, kDiamond = 6;

static std::pair<double, double> locate(const Object &point, const Scale &scale) {
  return {scale.x(static_cast<double>(integer(point, "bytes"))),
          scale.y(number(point, "cost_increase"))};
}

static void printMarks(raw_ostream &stream, const Object &curve, const Scale &scale,
                       ChartLabels &labels) {
  printLine(stream, curve, scale, "bound", "bound");
  printLine(stream, curve, scale, "cost_increase", "cost");
  for (const Object *point : list(curve, "points")) {
    auto [x, y] = locate(*point, scale);
    labels.addMark(x, y, kDot);
    stream << formatv("<circle class='plan' cx='{0:f2}' cy='{1:f2}' r='{2}'><title>{3}</title>"
                      "</circle>\n",
                      x, y, kDot, describe(*point));
  }
  if (const Object *given = curve.getObject("default")) {
    auto [x, y] = locate(*given, scale);
    labels.addMark(x, y, kRing);
    stream << formatv("<circle class='default' cx='{0:f2}' cy='{1:f2}' r='{2}'><title>without a "
                      "budget: {3}</title></circle>\n",
                      x, y, kRing, describe(*given));
  }
  for (const Object *point : list(curve, "policies")) {
    auto [x, y] = locate(*point, scale);
    labels.addMark(x, y, kDiamond);
    stream << formatv("<path class='policy' d='M{0:f2} {1:f2}l6 6l-6 6l-6 -6z'><title>{2}: "
                      "{3}</title></path>\n",
                      x, y - kDiamond, escape(point->getString("policy").value_or("")),
                      describe(*point));
  }
}

/// Prints labels. Marks without a label show their text under the pointer, and in the table.
static void printLabels(raw_ostream &stream, const Object &curve, const Scale &scale,
                        ChartLabels &labels) {
  labels.print(stream, "seconds more than without a budget", "", {{6, 14}});
  if (const Object *given = curve.getObject("default")) {
    auto [x, y] = locate(*given, scale);
    labels.printBeside(stream, "without a budget", "", x, y, kRing);
  }
  for (const Object *point : list(curve, "policies")) {
    auto [x, y] = locate(*point, scale);
    labels.printBeside(stream, escape(point->getString("policy").value_or("")), "", x, y, kDiamond);
  }
  for (const Object *point : list(curve, "points")) {
    auto [x, y] = locate(*point, scale);
    labels.printBeside(stream, share(curve, *point), "quiet", x, y, kDot);
  }
}

static void printRow(raw_ostream &stream, StringRef name, const Object &curve,
                     const Object &point) {
  stream << "<tr><td>" << escape(name) << "</td>";
  auto cell = [&](double value, const std::string &text) {
    stream << formatv("<td class='number' data-value='{0:e6}'>{1}</td>", value, text);
  };
  auto bytes = [&](StringRef key) { cell(integer(point, key), showBytes(integer(point, key))); };
  bytes("bytes");
  cell(integer(point, "bytes"), share(curve, point));
  bytes("arena_bytes");
  bytes("workspace_bytes");
  cell(number(point, "cost_increase"), percent(number(point, "cost_increase")));
  bool isBounded = point.getNumber("bound").has_value();
  cell(number(point, "bound"), isBounded ? percent(number(point, "bound")) : "");
  cell(number(point, "gap"), isBounded ? formatv("{0:f2}", 100 * number(point, "gap")).str() : "");
  bytes("overridden_bytes");
  stream << "</tr>\n";
}

static void printTable(raw_ostream &stream, const Object &curve) {
  stream
      << "<div class='wide'><table class='data'><thead><tr><th>plan</th><th>bytes</th><th>of all "
         "saved</th><th>arena</th><th>workspace</th><th>cost</th><th>bound</th><th>gap, points"
         "</th><th>PREFER overridden</th></tr></thead><tbody>\n";
  for (auto [i, point] : llvm::enumerate(list(curve, "points")))
    printRow(stream, std::to_string(i + 1), curve, *point);
  if (const Object *given = curve.getObject("default"))
    printRow(stream, "without a budget", curve, *given);
  for (const Object *point : list(curve, "policies"))
    printRow(stream, point->getString("policy").value_or(""), curve, *point);
  stream << "</tbody></table></div>\n";
}

static html::PageHead readHead(const Object &curve) {
  auto text = [&](StringRef key) { return curve.getString(key).value_or("").str(); };
  html::PageHead head;
  head.inputs.model = text("model");
  head.inputs.entry = text("entry");
  head.inputs.microbatches = integer(curve, "microbatches");
  head.inputs.compiler = text("compiler");
  if (const Array *policies = curve.getArray("given_policies"))
    for (const json::Value &policy : *policies)
      head.inputs.policies.push_back(policy.getAsString().value_or("").str());
  head.target = text("target");
  head.threads = integer(curve, "threads");
  return head;
}

void printParetoHtml(raw_ostream &stream, const Object &curve) {
  html::printStart(stream, "memory and time", readHead(curve));
  stream << "<p>Each dot is a plan that was packed; none of them takes both fewer bytes and less "
            "time than another. No plan within the bytes lies below the dashed line. Diamonds are "
            "what policies come to without a budget; the ring is the plan without a "
            "budget. Percent are of the bytes if all values are saved. Point at a mark "
            "for its numbers.</p>\n"
         << "<p>All values saved: " << showBytes(integer(curve, "save_all_bytes"))
         << formatv("; one execution of every op: {0:e2} s of the cost model</p>\n",
                    number(curve, "step_seconds"));
  stream << formatv("<div class='wide chart'><svg viewBox='-76 -14 {0} {1}' role='img'>\n",
                    width + 90, height + 56);
  Scale scale(curve);
  printAxes(stream, scale);
  ChartLabels labels(width, height);
  printMarks(stream, curve, scale, labels);
  printLabels(stream, curve, scale, labels);
  stream << "</svg></div>\n";
  printTable(stream, curve);
  html::printEnd(stream);
}

} // namespace reprise
