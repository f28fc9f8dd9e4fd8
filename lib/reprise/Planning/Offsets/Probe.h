// reprise: a search for offsets below a limit that branches where there is least choice
#ifndef REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
#define REPRISE_LIB_PLANNING_OFFSETS_PROBE_H

#include "Sections.h"

#include <algorithm>
#include <unordered_map>

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

/// Numbers that are to be looked at, none twice.
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

/// Each unit has a support: the lowest offset that is left to it. At each node one unit is put down
/// on its support, with all that conflicts with it and is not placed above it; or it is lifted to
/// the lowest offset at which it rests on one that is not placed. Each packing that cannot slide
/// down is met once, whatever the order of the units, so that the next one is chosen from a section
/// with little choice.
///
/// A unit whose support is above the room of one of its sections is not the lowest one there, so
/// that it rests on one that can be. That raises it without a branch, and others after it.
///
/// Units that cross from one section to the next rest at one height in both, which tells how the
/// ones that end and begin between the two add up.
///
/// Where sections side by side have no byte to spare and are level, units side by side fill the
/// bottom from one end to the other. A probe may believe in blocks, too: see Block.
///
/// A dead end is blamed on the sections that it was seen in, and on those of the units that led
/// there. What was placed without a part in that is taken back without another try. The blame is
/// not complete, so that a search that ends without a packing proves nothing.
class Probe {
public:
  Probe(const Sections &sections, int64_t limit, const std::vector<Block> &blocks,
        const ProbeTurn &turn, std::vector<double> &weights, int64_t visits);

  /// Tries the offsets of another one first.
  void follow(const Depth *other) { guide = other; }

  bool run() {
    Times blame(states.size());
    return descend(blame) == Result::Found;
  }
  const std::vector<int64_t> &result() const { return offsets; }
  const Depth &deepest() const { return depth; }
  int64_t visitsLeft;

private:
  enum class Result { Found, None, GaveUp };
  using Span = std::pair<int32_t, int32_t>;
  /// The lowest support in a section, how many units can be the lowest one, and how many chains
  /// can fill the bottom of its row; as many as there are choices where that is not known.
  struct State {
    int64_t lowest;
    int32_t choices = 0;
    double chains = 0;
  };
  /// What a unit's support, or a section's state, was before.
  struct Change {
    bool ofUnit;
    int32_t index;
    State before;
  };
  /// What the parts of an edge add up to that are not placed.
  struct Sums {
    std::vector<char> isOpen;
    std::vector<int64_t> sums = {0};
  };
  struct Lift {
    int32_t unit;
    Times blame;
  };
  /// A unit that can lie at the bottom of a row, from one of its sections to another.
  struct Link {
    int32_t unit, begin, end;
  };
  struct Range {
    int64_t low, high;
  };

  // How it branches (ProbeTurns.cpp).
  void rankUnits();
  void findTwins();
  Result descend(Times &blame);
  Result fail(Times &blame, Times &mine, const std::vector<Lift> &lifts, uint64_t entry);
  int32_t pick();
  int32_t pickSection(Span span, int64_t below) const;
  int32_t pickUnit(int32_t section) const;
  bool mustWait(int32_t unit) const;
  int64_t weigh(int32_t unit) const;

  // What follows from that (Probe.cpp).
  bool place(int32_t unit, Times &reach);
  bool lift(int32_t unit);
  bool isStackedWrong(int32_t unit) const;
  bool raise(int32_t unit, int64_t bytes);
  bool propagate(Times &reach);
  bool refresh(int32_t section, Times &reach);
  bool raiseOthers(int32_t section, int64_t top, Times &reach);
  bool refuse(Span span);
  void setSupport(int32_t unit, int64_t bytes);
  void take(int32_t unit, int64_t sign);
  void undo(size_t size);

  // What follows from two sections side by side (ProbeEdges.cpp).
  void touchEdges(int32_t section);
  void addPart(int64_t bytes, std::vector<int64_t> &sums);
  const std::vector<int64_t> &findSums(const std::vector<Edge::Part> &parts, Sums &known);
  int64_t findLevel(int32_t edge);
  bool alignEdge(int32_t edge, Times &reach);

  // What follows from sections that are level (ProbeRows.cpp).
  Span findRow(int32_t section) const;
  void findLinks(Span row);
  bool isInChain(const Link &link) const {
    return chainsBefore[link.begin] > 0 && chainsAfter[link.end] > 0;
  }
  bool alignRow(int32_t section, Times &reach);
  bool raiseLoose(Span row, Times &reach);

  // What follows from blocks (ProbeBlocks.cpp).
  void chooseBlocks();
  void touchBlocks(int32_t unit) {
    for (int32_t block : blocksOf[unit])
      touchedBlocks.add(block);
  }
  int64_t bytesOf(int32_t unit) const {
    return roundUp(sections.units[unit].size, sections.alignment);
  }
  Range findRange(const Block &block, const std::vector<int32_t> &side) const;
  bool narrow(const Block &block, Range &range) const;
  bool alignBlock(int32_t index, Times &reach);

  /// The support of a unit that is placed, and the lowest one of a section where all are.
  static constexpr int64_t kNone = INT64_MAX;
  int64_t room(int32_t section) const { return limit + sections.slack[section] - left[section]; }

  const Sections &sections;
  int64_t limit;
  const ProbeTurn &turn;
  int64_t nodesLeft;
  std::vector<int64_t> support; // of units that are not placed
  std::vector<int64_t> offsets; // -1: not placed
  std::vector<int64_t> left;    // bytes of a section that are not placed
  std::vector<int32_t> rank;
  std::vector<State> states;
  std::vector<double> &weights; // of sections, larger where dead ends were seen
  double increment = 1;
  std::vector<std::vector<int32_t>> twins;  // units of the same sections and size
  std::vector<std::vector<int32_t>> stacks; // units of the same sections and another size
  const std::vector<Block> &blocks;
  std::vector<std::vector<int32_t>> blocksOf; // by unit, those that this probe believes in
  Worklist touched;                           // sections whose state may be another one
  Worklist touchedEdges, touchedRows;         // those of sections whose state became another one
  Worklist touchedBlocks;
  std::vector<Sums> sumsOfEnds, sumsOfBegins; // by edge
  std::vector<char> isOpenPart;               // scratch, as are these
  std::vector<int64_t> mergedSums, lowestTops;
  std::vector<Link> links;
  std::vector<double> chainsBefore, chainsAfter;
  std::vector<Change> trail;
  const Depth *guide = nullptr;
  Depth depth;
  int64_t placed = 0;
  uint64_t hash = 0;                            // of all supports
  std::unordered_map<uint64_t, Times> deadEnds; // by their hash, with their blame
  Span dead;                                    // where the last dead end was seen
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
