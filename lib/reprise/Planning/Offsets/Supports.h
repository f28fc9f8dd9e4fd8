// reprise: the lowest possible offsets of units, and their consequences
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SUPPORTS_H
#define REPRISE_LIB_PLANNING_OFFSETS_SUPPORTS_H

#include "Sections.h"

#include <algorithm>

namespace reprise::offsets {

/// A set of sections.
class Times {
public:
  explicit Times(size_t count) : words((count + 63) / 64) {}

  void add(std::pair<int32_t, int32_t> span) {
    for (int32_t s = span.first; s <= span.second; ++s)
      words[s / 64] |= uint64_t(1) << (s % 64);
  }
  void add(const Times &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] |= other.words[i];
  }
  bool meets(std::pair<int32_t, int32_t> span) const {
    for (int32_t s = span.first; s <= span.second; ++s)
      if (words[s / 64] >> (s % 64) & 1)
        return true;
    return false;
  }
  bool meets(const Times &other) const {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] & other.words[i])
        return true;
    return false;
  }
  void clear() { std::fill(words.begin(), words.end(), 0); }

private:
  std::vector<uint64_t> words;
};

/// List of distinct numbers to process.
class Worklist {
public:
  explicit Worklist(size_t count) : isListed(count) {}

  void add(int32_t number) {
    if (!isListed[number])
      list.push_back(number);
    isListed[number] = true;
  }
  void drop(int32_t number) { isListed[number] = false; }
  bool empty() {
    while (next < list.size() && !isListed[list[next]])
      ++next;
    if (next == list.size()) {
      list.clear();
      next = 0;
    }
    return list.empty();
  }
  /// The first one, of a list that is not empty.
  int32_t take() {
    drop(list[next]);
    return list[next++];
  }
  void clear() {
    while (!empty())
      take();
  }

private:
  std::vector<int32_t> list;
  std::vector<char> isListed;
  size_t next = 0;
};

/// State of a section.
struct SectionState {
  int64_t lowest;      // lowest support
  int32_t choices = 0; // number of units that can be the lowest
  double chains = 0;   // chains that can fill the bottom of its row; `choices` if unknown
};

/// Units of the same sections, by unit.
struct Twins {
  explicit Twins(const Sections &sections);
  std::vector<std::vector<int32_t>> alike;  // twins of the same size
  std::vector<std::vector<int32_t>> others; // twins of another size
};

/// Supports: the lowest possible offset of each unit. Placing or lifting a unit raises others. All
/// changes can be undone.
struct Supports {
  /// Support of a placed unit, and the lowest support of a section in which all units are placed.
  static constexpr int64_t kNone = INT64_MAX;
  /// Sections from the first to the last.
  using Span = std::pair<int32_t, int32_t>;
  /// Old value of a unit's support, or of a section's state.
  struct Change {
    bool ofUnit;
    int32_t index;
    SectionState before;
  };
  /// Sums of the unplaced parts of an edge.
  struct Sums {
    std::vector<char> isOpen;
    std::vector<int64_t> sums = {0};
  };
  /// Unit that can lie at the bottom of a row, from one of its sections to another.
  struct Link {
    int32_t unit, begin, end;
  };

  Supports(const Sections &sections, int64_t limit, std::vector<double> &weights, int64_t visits);

  /// Places a unit; returns false if a section has too little room then. `reach` receives the
  /// changed sections.
  bool place(int32_t unit, Times &reach);
  /// Leaves the support of a unit to another unplaced unit; returns false if that is impossible.
  /// Twins of the unit are lifted too, since they would do no better there.
  bool lift(int32_t unit);
  /// Undoes all changes after the first `size`.
  void undo(size_t size);

  /// Raises the support of an unplaced unit, and records the sections that this may affect; returns
  /// false if the unit does not fit there.
  bool raise(int32_t unit, int64_t bytes);
  /// Notes a dead end, and returns false. Its sections weigh more from now on.
  bool refuse(Span span);
  int64_t room(int32_t section) const { return limit + sections.slack[section] - left[section]; }

  const Sections &sections;
  int64_t limit, visitsLeft;
  std::vector<int64_t> support; // supports of unplaced units
  std::vector<int64_t> offsets; // -1: not placed
  std::vector<int64_t> left;    // unplaced bytes of each section
  std::vector<SectionState> states;
  std::vector<double> &weights; // weights of sections, larger where dead ends occurred
  double increment = 1;
  Twins twins;
  Worklist touched;                           // sections whose state may have changed
  Worklist touchedEdges, touchedRows;         // edges and rows of sections whose state has changed
  std::vector<Sums> sumsOfEnds, sumsOfBegins; // by edge
  std::vector<char> isOpenPart;               // scratch, as are the next fields
  std::vector<int64_t> mergedSums, lowestTops;
  std::vector<Link> links;
  std::vector<double> chainsBefore, chainsAfter;
  std::vector<Change> trail;
  uint64_t hash = 0; // hash of all supports
  Span dead;         // sections of the last dead end

private:
  bool propagate(Times &reach);
  void setSupport(int32_t unit, int64_t bytes);
  void take(int32_t unit, int64_t sign);
};

// Conclusions from adjacent sections and from level sections. Each function raises
// supports, adds its changes to `reach`, and returns false at a dead end.
bool alignEdge(Supports &now, int32_t edge, Times &reach);
bool alignRow(Supports &now, int32_t section, Times &reach);

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SUPPORTS_H
