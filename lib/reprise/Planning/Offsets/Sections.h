// reprise: common data of the searches for offsets below a limit: time cut into sections
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
#define REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H

#include "Packing.h"
#include "reprise/Support/SplitMix.h"

namespace reprise::offsets {

inline int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Changes from the previous section to a section.
struct Edge {
  using Part = std::pair<int32_t, int64_t>; // unit and its bytes
  std::vector<Part> ends, begins;
  std::vector<int32_t> crossing; // units with bytes on both sides
};

/// Sections, found once for many searches. A section begins where a buffer begins; the largest load
/// of all times is the load of a section.
struct Sections {
  Sections(const Problem &problem, const std::vector<Unit> &units, const Conflicts &conflicts);
  /// Returns the sum over sections of their units.
  int64_t countMembers() const;

  const std::vector<Unit> &units;
  const Conflicts &conflicts;
  int64_t alignment;
  std::vector<int64_t> starts;                    // first moments
  std::vector<std::vector<int32_t>> members;      // units per section
  std::vector<std::vector<int64_t>> loads;        // their bytes in the section, rounded up
  std::vector<int64_t> slack;                     // bytes that rounding can add to the topmost unit
  std::vector<std::pair<int32_t, int32_t>> spans; // first and last section of each unit
  std::vector<int32_t> byBirth;                   // units
  std::vector<std::vector<int32_t>> beginning;    // units that begin in a section
  bool isEven = true;                             // whether no unit changes its bytes
  // Edges before each section; none before the first.
  std::vector<Edge> edges;

private:
  int64_t loadOf(int32_t unit, int32_t section) const;
  void findEdges();
  void findBeginnings();
};

/// Returns buffers that fill an arena at every section, together with the existing buffers. They
/// begin where the free space grows and end where it shrinks.
std::vector<Buffer> findHoles(const Sections &sections, int64_t limit);

/// Parameters of the branching of a probe: see Probe.
struct ProbeTurn {
  int64_t number; // seed
  int64_t nodes;  // limit of nodes of the search tree
  int order;      // ranks units by life, area or size
  bool isFirst = false, learns = false, forcedOnly = false, fits = false;
};

/// Depth of a probe: the largest number of units placed together, and all offsets at that time.
struct Depth {
  int64_t placed = 0;
  std::vector<int64_t> offsets; // -1: not placed
};

/// Probes for offsets with no end above a limit, each of another kind than the one before.
class Probes {
public:
  static constexpr int kKinds = 12;
  Probes(const Sections &sections, int64_t limit)
      : sections(sections), limit(limit), weights(sections.members.size(), 1) {}

  /// Runs the next probe, which may miss existing offsets; subtracts its work from `visits`.
  bool find(int64_t nodes, int64_t &visits, std::vector<int64_t> &offsets);

private:
  const Depth *pickGuide();
  void keep(Depth depth);

  const Sections &sections;
  int64_t limit, number = 0;
  std::vector<double> weights; // weights of sections: the shared knowledge of probes
  std::vector<Depth> deepest;  // some of the deepest probes
  SplitMix random{1};
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
