// reprise: a search for offsets that fill an arena without a gap, along time
#ifndef REPRISE_LIB_PLANNING_OFFSETS_TILES_H
#define REPRISE_LIB_PLANNING_OFFSETS_TILES_H

#include "OrderTree.h"
#include "Sections.h"
#include "reprise/Support/SplitMix.h"

#include <map>

namespace reprise::offsets {

/// A unit or a hole, by its sections.
struct Tile {
  int32_t first, last;
  int64_t size;
};

/// Sweep over tiles that fill an arena at each of `count` sections.
///
/// Live tiles lie in an order from the bottom up. From one section to the next, contiguous tiles
/// end, and others of equal total bytes begin in their place. The only knowledge of the past is the
/// set of possible orders of the live tiles. An OrderTree holds this set, so that a sweep branches
/// only if tiles that end at the same time can be matched in several ways. Of the states at a
/// section it keeps those with the most orders.
class TileSweep {
public:
  TileSweep(const std::vector<Tile> &tiles, int32_t count, size_t width, SplitMix &random,
            int64_t visits);

  bool run();
  /// The section that no state is left for.
  int32_t reached() const { return section; }
  /// The offsets of all tiles, after a sweep to the end.
  std::vector<int64_t> recover();
  int64_t visitsLeft;

private:
  using List = std::vector<int32_t>;
  /// Tiles that end together, and those that begin in their place.
  struct Change {
    List ends, begins;
  };
  struct State {
    OrderTree tree;
    int32_t parent;
    std::vector<Change> changes; // changes since the parent
  };
  struct Subset {
    int64_t bytes;
    uint64_t bits;
  };
  /// Remaining changes before a section, and the limit of states after them.
  struct Rest {
    Change change;
    size_t most;
  };

  std::vector<State> step(const std::vector<State> &states);
  size_t expand(const Rest &rest, const State &state, std::vector<State> &next);
  const std::vector<Change> &findChanges(const Change &left);
  std::vector<Change> matchSubsets(const Change &left);
  std::vector<Subset> listSubsets(const List &from, Subset start);
  std::vector<State> keepBest(std::vector<State> states);
  bool apply(const Change &change, State &state);
  void mark(const List &list, bool isMarked);
  std::vector<Change> retrace() const;

  const std::vector<Tile> &tiles;
  size_t width;
  SplitMix &random;
  int32_t section = 0;
  int64_t live = 0;                            // tiles
  std::vector<Change> edges;                   // changes before each section, and after the last
  std::map<List, std::vector<Change>> changes; // first changes, by the remaining changes of an edge
  std::vector<char> marks;
  // History of kept states.
  std::vector<std::vector<std::pair<int32_t, std::vector<Change>>>> history;
};

/// Sweeps over an arena that is full if its holes are tiles as well. The places of holes are
/// unknown. Later sweeps cut them, most likely at the edges where earlier sweeps ended, because the
/// free space may lie elsewhere from there on.
class Tiles {
public:
  Tiles(const Sections &sections, int64_t limit);

  /// Runs the next sweep, forward or backward, with `width` states at a time. It may miss existing
  /// offsets; subtracts its work from `visits`.
  bool find(size_t width, int64_t &visits, std::vector<int64_t> &offsets);

private:
  std::vector<Tile> cutHoles(SplitMix &random) const;
  void learn(int32_t edge);

  int32_t count; // number of sections
  // True if tiles fill the arena: no section exceeds it, and no group changes its bytes.
  bool isFull;
  uint64_t number = 0;
  std::vector<Tile> units, holes;
  std::vector<double> chances; // probability that a hole is cut before a section
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_TILES_H
