// reprise: texts of a chart, placed without overlap
#include "ChartLabels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace reprise {

/// Pixels of a 12-pixel text: per character of a wide font, above and below the baseline.
static constexpr double kCharacter = 7.6, kAscent = 12, kDescent = 4;

ChartLabels::Box ChartLabels::measure(StringRef text, const Place &place) {
  // An entity counts as one character, and so do the bytes of a character.
  size_t characters = 0;
  bool isEntity = false;
  for (char c : text) {
    characters += !isEntity && (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    isEntity = c == '&' || (isEntity && c != ';');
  }
  double wide = kCharacter * static_cast<double>(characters);
  double left = place.isEnd ? place.x - wide : place.x;
  return {left, place.y - kAscent, left + wide, place.y + kDescent};
}

void ChartLabels::addMark(double x, double y, double radius) {
  marks.push_back({x - radius, y - radius, x + radius, y + radius});
}

void ChartLabels::print(raw_ostream &stream, StringRef text, StringRef kind,
                        ArrayRef<Place> places) {
  auto isFree = [&](const Place &place, bool mayHideMarks) {
    Box box = measure(text, place);
    auto meets = [&](const Box &other) { return box.meets(other); };
    return box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height &&
           llvm::none_of(texts, meets) && (mayHideMarks || llvm::none_of(marks, meets));
  };
  for (bool mayHideMarks : {false, true})
    for (const Place &place : places)
      if (isFree(place, mayHideMarks)) {
        texts.push_back(measure(text, place));
        stream << formatv("<text{0} x='{1:f2}' y='{2:f2}' text-anchor='{3}'>{4}</text>\n",
                          kind.empty() ? "" : (" class='" + kind + "'").str(), place.x, place.y,
                          place.isEnd ? "end" : "start", text);
        return;
      }
}

void ChartLabels::printBeside(raw_ostream &stream, StringRef text, StringRef kind, double x,
                              double y, double radius) {
  static constexpr int kMostLines = 6;
  constexpr double line = kAscent + kDescent;
  double across = radius + 3;
  SmallVector<Place> places;
  for (int away = 0; away <= kMostLines; ++away)
    for (int sign : {-1, 1})
      for (bool isEnd : {false, true})
        places.push_back({isEnd ? x - across : x + across, y + 4 + sign * away * line, isEnd});
  // A chart may be full beside the mark, so we also try above and below, where there is more room.
  double half = measure(text, {0, 0}).right / 2;
  for (int away = 1; away <= kMostLines; ++away)
    for (int sign : {-1, 1})
      places.push_back({x - half, y + 4 + sign * (away * line + radius)});
  print(stream, text, kind, places);
}

} // namespace reprise
