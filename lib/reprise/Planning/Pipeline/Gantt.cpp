// reprise: the pieces of every rank over time, as a page and as a trace
#include "reprise/Planning/Pipeline/Gantt.h"

#include <cstdio>

namespace reprise::pipeline {

/// Style of the page around the chart.
static constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--text:#222;--quiet:#666;--ground:#fff;--plot:#f4f4f1;
--forward:#8fb3d9;--backward:#8ab17d}
@media(prefers-color-scheme:dark){:root{--text:#ddd;--quiet:#999;--ground:#1b1b1d;--plot:#26262a;
--forward:#5d7d9e;--backward:#6f9a63}}
body{font:14px/1.45 system-ui,sans-serif;margin:0 auto;padding:1em;max-width:1400px;
color:var(--text);background:var(--ground)}
h1{font-size:1.5em;margin:.4em 0 0}.about{color:var(--quiet);margin:.2em 0 1em}
table{border-collapse:collapse;margin:1em 0}th,td{text-align:right;padding:2px 12px 2px 0}
th{color:var(--quiet);font-weight:normal}
)css";

/// Style of the chart, in a page with the colours --text, --plot, --forward and --backward.
static constexpr char kChartStyle[] = R"css(
.gantt{--weight:#cc8844;overflow-x:auto}
@media(prefers-color-scheme:dark){.gantt{--weight:#a9713c}}
.gantt svg{display:block;min-width:900px;width:100%;font-size:10px}
.gantt .ground{fill:var(--plot)}.gantt rect{stroke:var(--plot);stroke-width:.4}
.gantt text{fill:var(--text)}.gantt .deep{filter:brightness(.8)}
.gantt .forward{fill:var(--forward);background:var(--forward)}
.gantt .backward{fill:var(--backward);background:var(--backward)}
.gantt .weight{fill:var(--weight);background:var(--weight)}
.gantt .passes{display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:.4em 0;font-size:12px}
.gantt .passes i{display:inline-block;width:11px;height:11px;margin-right:5px}
)css";

static constexpr double kWidth = 1200, kHeight = 22, kLeft = 56;
static const char *const kPasses[] = {"forward", "backward", "weight"};

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    if (c == '<' || c == '&' || c == '>')
      escaped += c == '<' ? "&lt;" : c == '&' ? "&amp;" : "&gt;";
    else
      escaped += c;
  return escaped;
}

template <typename... Values> static std::string format(const char *pattern, Values... values) {
  char text[400];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

/// Draws a box, with the number of the micro-batch if there is room. Odd chunks are darker.
static std::string drawPiece(const Shape &shape, const Piece &piece, size_t rank, double begin,
                             double end, double makespan) {
  double scale = (kWidth - kLeft) / makespan;
  double x = kLeft + begin * scale, width = (end - begin) * scale;
  double y = kHeight * static_cast<double>(rank);
  std::string box =
      format("<rect class='%s%s' x='%.2f' y='%.1f' width='%.2f' height='%.1f'><title>",
             kPasses[static_cast<int>(piece.pass)],
             shape.chunkOf(piece.stage) % 2 != 0 ? " deep" : "", x, y + 2, width, kHeight - 4);
  box += describe(piece) + format(": %.6g to %.6g</title></rect>\n", begin, end);
  if (width > 9)
    box += format("<text x='%.2f' y='%.1f' text-anchor='middle' pointer-events='none'>%d</text>\n",
                  x + width / 2, y + kHeight / 2 + 3.5, piece.microbatch);
  return box;
}

static std::string drawTable(const Simulation &simulation) {
  std::string text =
      "<table><thead><tr><th>rank</th><th>busy</th><th>peak bytes</th></tr></thead>\n";
  for (size_t rank = 0; rank < simulation.busy.size(); ++rank)
    text +=
        format("<tr><td>%zu</td><td>%.1f %%</td><td>%lld</td></tr>\n", rank,
               simulation.makespan > 0 ? 100 * simulation.busy[rank] / simulation.makespan : 0.0,
               static_cast<long long>(simulation.peaks[rank]));
  return text + "</table>\n";
}

std::string drawChart(const Schedule &schedule, const Simulation &simulation) {
  size_t ranks = schedule.ranks.size();
  double makespan = simulation.makespan > 0 ? simulation.makespan : 1;
  std::string text = std::string("<style>") + kChartStyle + "</style>\n<div class='gantt'>";
  text += "<div class='passes'>";
  for (int pass = 0; pass < (schedule.splitsBackward ? 3 : 2); ++pass)
    text += format("<span><i class='%s'></i>%s</span>", kPasses[pass], kPasses[pass]);
  if (schedule.shape.chunks > 1)
    text += "<span>darker: a device's second stage, and every second one after it</span>";
  text += format("</div>\n<svg viewBox='0 0 %.0f %.0f' role='img'>\n", kWidth,
                 kHeight * static_cast<double>(ranks));
  text += format("<rect class='ground' x='%.0f' y='0' width='%.0f' height='%.0f'/>\n", kLeft,
                 kWidth - kLeft, kHeight * static_cast<double>(ranks));
  for (size_t rank = 0; rank < ranks; ++rank) {
    text += format("<text x='0' y='%.1f'>rank %zu</text>\n",
                   kHeight * static_cast<double>(rank) + kHeight / 2 + 3.5, rank);
    for (size_t place = 0; place < schedule.ranks[rank].size(); ++place)
      text += drawPiece(schedule.shape, schedule.ranks[rank][place], rank,
                        simulation.begins[rank][place], simulation.ends[rank][place], makespan);
  }
  return text + "</svg></div>\n";
}

std::string drawGantt(const std::string &title, const Schedule &schedule,
                      const Simulation &simulation) {
  std::string text = "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta "
                     "name='viewport' content='width=device-width'><title>" +
                     escape(title) + "</title><style>" + kStyle + "</style></head><body>\n<h1>" +
                     escape(title) + "</h1>\n<p class='about'>";
  text += format("%zu ranks, %lld micro-batches, makespan %.6g, bubble %.1f %%</p>\n",
                 schedule.ranks.size(), static_cast<long long>(schedule.shape.microbatches),
                 simulation.makespan, 100 * simulation.bubbleOfTotal());
  return text + drawChart(schedule, simulation) + drawTable(simulation) + "</body></html>\n";
}

std::string writeTrace(const Schedule &schedule, const Simulation &simulation) {
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{\"name\": "
                     "\"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": {\"name\": "
                     "\"pipeline\"}}";
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += format(",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": %zu, "
                   "\"args\": {\"name\": \"rank %zu\"}}",
                   rank, rank);
    for (size_t place = 0; place < schedule.ranks[rank].size(); ++place) {
      const Piece &piece = schedule.ranks[rank][place];
      double begin = simulation.begins[rank][place], end = simulation.ends[rank][place];
      text += format(",\n{\"name\": \"%s %d\", \"cat\": \"stage %d\", \"ph\": \"X\", \"pid\": 0, "
                     "\"tid\": %zu, \"ts\": %.3f, \"dur\": %.3f}",
                     kPasses[static_cast<int>(piece.pass)], piece.microbatch, piece.stage, rank,
                     1e6 * begin, 1e6 * (end - begin));
    }
  }
  return text + "\n]}\n";
}

} // namespace reprise::pipeline
