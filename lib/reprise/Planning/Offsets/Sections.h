// reprise: what the searches for offsets below a limit share: time cut into sections
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
#define REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H

#include "Packing.h"
#include "reprise/Support/SplitMix.h"

namespace reprise::offsets {

inline int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// What changes from the section before one to that one.
struct Edge {
  using Part = std::pair<int32_t, int64_t>; // a unit and its bytes
  std::vector<Part> ends, begins;
  std::vector<int32_t> crossing; // units with bytes on both sides
};

/// Found once for many searches. A section begins where a buffer does; the largest load of a time
/// is that of a section.
struct Sections {
  Sections(const Problem &problem, const std::vector<Unit> &units, const Conflicts &conflicts);
  /// Units of all sections, each as often as it has sections.
  int64_t countMembers() const;

  const std::vector<Unit> &units;
  const Conflicts &conflicts;
  int64_t alignment;
  std::vector<int64_t> starts;                    // first moments
  std::vector<std::vector<int32_t>> members;      // units of a section
  std::vector<std::vector<int64_t>> loads;        // their bytes in it, rounded up
  std::vector<int64_t> slack;                     // what rounding can add to the topmost one
  std::vector<std::pair<int32_t, int32_t>> spans; // first and last section of a unit
  std::vector<int32_t> byBirth;                   // units
  std::vector<std::vector<int32_t>> beginning;    // units that begin in a section
  bool isEven = true;                             // whether no unit changes its bytes
  std::vector<Edge> edges;                        // before a section; none before the first

private:
  int64_t loadOf(int32_t unit, int32_t section) const;
  void findEdges();
  void findBeginnings();
};

/// Buffers that fill an arena at every section, with those that there are. They begin where more
/// becomes free and end where less is.
std::vector<Buffer> findHoles(const Sections &sections, int64_t limit);

/// Units that end at an edge and others of as many bytes that begin there, if no fewer of either
/// are as many bytes, and none of them could be parted in another way: those that begin most likely
/// take the place of those that end, as one block.
struct Block {
  int32_t edge;
  std::vector<int32_t> ends, begins;
  std::vector<int32_t> others; // that live right before or after the edge
  int64_t bytes;
};

/// The blocks of all edges between two sections that fill the arena.
std::vector<Block> findBlocks(const Sections &sections, int64_t limit);

/// How one probe branches: see Probe.
struct ProbeTurn {
  int64_t number; // a seed
  int64_t nodes;  // of the search tree, at most
  int order;      // units by life, area or size
  bool isFirst = false, learns = false, forcedOnly = false, fits = false;
  double blocks = 0; // the share of them that the probe believes in
};

/// How far a probe came: the units that it had placed at once, at most, and all offsets then.
struct Depth {
  int64_t placed = 0;
  std::vector<int64_t> offsets; // -1: not placed
};

/// Probes for offsets with no end above a limit, each of another kind than the one before.
class Probes {
public:
  static constexpr int kKinds = 12;
  Probes(const Sections &sections, int64_t limit)
      : sections(sections), limit(limit), blocks(findBlocks(sections, limit)),
        weights(sections.members.size(), 1) {}

  /// The next probe. It may miss the offsets that there are; subtracts what it did from `visits`.
  bool find(int64_t nodes, int64_t &visits, std::vector<int64_t> &offsets);

private:
  const Depth *pickGuide();
  void keep(Depth depth);

  const Sections &sections;
  int64_t limit, number = 0;
  std::vector<Block> blocks;
  std::vector<double> weights; // of sections: what the probes learn from one another
  std::vector<Depth> deepest;  // few of those that came furthest
  SplitMix random{1};
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
