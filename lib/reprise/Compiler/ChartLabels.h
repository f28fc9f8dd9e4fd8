// reprise: texts of a chart, none of which lies on another
#ifndef REPRISE_COMPILER_CHARTLABELS_H
#define REPRISE_COMPILER_CHARTLABELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

namespace reprise {

/// Places labels of an SVG chart, whose texts have 12 pixels. Coordinates are pixels of the chart,
/// from its upper left corner.
class ChartLabels {
public:
  ChartLabels(double width, double height) : width(width), height(height) {}

  /// Where a text may stand: its baseline begins at (x, y), or ends there.
  struct Place {
    double x, y;
    bool isEnd = false;
  };

  /// Keeps labels off a mark, where there is another place for them.
  void addMark(double x, double y, double radius);
  /// Prints the text, in words of HTML, at the first place where it lies in the chart and on no
  /// other text. Prints nothing if there is none.
  void print(llvm::raw_ostream &stream, llvm::StringRef text, llvm::StringRef kind,
             llvm::ArrayRef<Place> places);
  /// Places for a mark's label: beside it, nearest first.
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
