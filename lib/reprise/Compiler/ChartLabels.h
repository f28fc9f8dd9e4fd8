// reprise: texts of a chart, placed without overlap
#ifndef REPRISE_COMPILER_CHARTLABELS_H
#define REPRISE_COMPILER_CHARTLABELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace reprise {

/// Placer of labels in an SVG chart, whose texts have 12 pixels. Coordinates are pixels of the
/// chart, from its upper left corner.
class ChartLabels {
public:
  ChartLabels(double width, double height) : width(width), height(height) {}

  /// Place for a text: its baseline begins at (x, y), or ends there.
  struct Place {
    double x, y;
    bool isEnd = false;
  };

  /// Keeps labels off a mark, if another place is free.
  void addMark(double x, double y, double radius);
  /// Prints the text, in words of HTML, at the first place where it lies in the chart and overlaps
  /// no other text. Prints no text if there is no such place.
  void print(llvm::raw_ostream &stream, llvm::StringRef text, llvm::StringRef kind,
             llvm::ArrayRef<Place> places);
  /// Prints a mark's label beside the mark, at the nearest free place.
  void printBeside(llvm::raw_ostream &stream, llvm::StringRef text, llvm::StringRef kind, double x,
                   double y, double radius);

private:
  struct Box {
    double left, top, right, bottom;
    bool meets(const Box &other) const {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  };
  static Box measure(llvm::StringRef text, const Place &place);

  double width, height;
  llvm::SmallVector<Box> texts, marks;
};

} // namespace reprise

#endif // REPRISE_COMPILER_CHARTLABELS_H
