// reprise: the arena over the step, and the live bytes below it, as a figure of a page
#include "Html.h"
#include "LiveBytes.h"
#include "Report.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using reprise::html::escape;

namespace reprise {

/// Returns the fate of a buffer, as a colour and as words.
static std::pair<StringRef, StringRef> classify(const ReportedBuffer &buffer, int64_t backward) {
  StringRef part = buffer.part;
  if (part == "scratch")
    return {"scratch", "scratch of one launch"};
  if (part == "replay")
    return {"replay", "replayed in the backward pass"};
  if (buffer.first >= backward)
    return {"backward", "made in the backward pass"};
  if (buffer.last >= backward)
    return {"saved", "kept for the backward pass"};
  return {"forward", "read in the forward pass only"};
}

/// Round numbers of bytes up to `most`, four or so.
static std::vector<int64_t> findTicks(int64_t most) {
  int64_t step = 1;
  while (most / step > 5)
    step *= 2;
  std::vector<int64_t> ticks;
  for (int64_t at = 0; at <= most; at += step)
    ticks.push_back(at);
  return ticks;
}

namespace {
/// Figure of two plots, with launches from left to right and thousandths of the arena from bottom
/// to top.
class Figure {
public:
  Figure(raw_ostream &stream, const Report &report)
      : stream(stream), buffers(report.buffers), live(countLiveBytes(buffers)),
        arena(std::max<int64_t>(1, report.arenaBytes)),
        backward(report.backwardLaunch.value_or(live.size())),
        peak(llvm::max_element(live) - live.begin()) {}

  void print();

private:
  void open(int height, StringRef kind);
  void close();
  void printLegend();
  void printBoxes();
  void printLive();
  double scale(int64_t bytes) const { return 1000.0 * bytes / arena; }

  raw_ostream &stream;
  const std::vector<ReportedBuffer> &buffers;
  std::vector<int64_t> live;
  int64_t arena, backward, peak;
};
} // namespace

void Figure::open(int height, StringRef kind) {
  stream << formatv("<div class='plot {0}' style='height:{1}px'><svg viewBox='0 0 {2} 1000' "
                    "preserveAspectRatio='none' role='img'>\n",
                    kind, height, live.size());
}

/// Prints the axis of bytes, and the events of the step.
void Figure::close() {
  stream << "</svg>\n";
  for (int64_t bytes : findTicks(arena))
    stream << formatv("<span class='tick across' style='top:{0:f2}%'>{1}</span>",
                      100 - scale(bytes) / 10, showBytes(bytes));
  auto rule = [&](int64_t launch, StringRef kind, const std::string &text) {
    double at = 100.0 * launch / live.size();
    stream << formatv("<div class='rule {0}{1}' data-x='{2}' style='left:{3:f2}%'><span>{4}"
                      "</span></div>\n",
                      kind, at > 70 ? " left" : "", launch, at, text);
  };
  if (backward > 0 && backward < static_cast<int64_t>(live.size()))
    rule(backward, "backward-pass", "backward pass");
  rule(peak, "peak", "peak: " + showBytes(live[peak]));
  stream << "</div>\n";
}

void Figure::printLegend() {
  stream << "<div class='legend'>";
  static constexpr std::pair<StringLiteral, StringLiteral> kinds[] = {
      {"forward", "read in the forward pass only"},
      {"saved", "kept for the backward pass"},
      {"replay", "replayed"},
      {"backward", "made in the backward pass"},
      {"scratch", "scratch of one launch"}};
  for (auto [kind, text] : kinds)
    stream << "<span><i class='" << kind << "'></i>" << text << "</span>";
  stream << "</div>\n";
}

void Figure::printBoxes() {
  for (const ReportedBuffer &buffer : buffers) {
    int64_t first = buffer.first, last = buffer.last;
    double height = scale(buffer.bytes);
    auto [kind, text] = classify(buffer, backward);
    stream << formatv("<rect class='{0}' x='{1}' y='{2:f2}' width='{3}' height='{4:f2}'><title>{5}"
                      ": {6} at {7}, launches {8} to {9}, {10}</title></rect>\n",
                      kind, first, 1000 - scale(buffer.offset) - height, last + 1 - first, height,
                      escape(buffer.name), showBytes(buffer.bytes), buffer.offset, first, last,
                      text);
  }
}

void Figure::printLive() {
  stream << "<path class='live saved' d='M0 1000";
  for (auto [launch, bytes] : llvm::enumerate(live))
    if (launch == 0 || bytes != live[launch - 1])
      stream << formatv("H{0}V{1:f2}", launch, 1000 - scale(bytes));
  stream << "H" << live.size() << "V1000z'/>\n";
}

void Figure::print() {
  printLegend();
  stream << "<figure data-launches='" << live.size() << "'>\n";
  open(420, "arena");
  printBoxes();
  close();
  stream << "<p class='info'>Point at a box for its name, click to keep it; drag over launches to "
            "zoom.</p>\n";
  open(120, "axis");
  printLive();
  close();
  stream << "</figure>\n";
}

void printArenaHtml(raw_ostream &stream, const Report &report) {
  if (report.buffers.empty())
    return;
  stream << "<h2>The arena over the step</h2>\n<p>A box is a buffer: as wide as its life in "
            "launches, as high as its bytes, at its place in the arena. Below, the bytes that are "
            "live at each launch.</p>\n";
  Figure(stream, report).print();
}

} // namespace reprise
