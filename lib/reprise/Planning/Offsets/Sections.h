// reprise: what the searches for offsets below a limit share: time cut into sections
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
#define REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H

#include "Packing.h"

namespace reprise::offsets {

inline int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Found once for many searches. A section begins where a buffer does; the largest load of a time
/// is that of a section.
struct Sections {
  Sections(const Problem &problem, const std::vector<Unit> &units, const Conflicts &conflicts);

  const std::vector<Unit> &units;
  const Conflicts &conflicts;
  int64_t alignment;
  std::vector<std::vector<int32_t>> members;      // units of a section
  std::vector<std::vector<int64_t>> loads;        // their bytes in it, rounded up
  std::vector<int64_t> slack;                     // what rounding can add to the topmost one
  std::vector<std::pair<int32_t, int32_t>> spans; // first and last section of a unit
  std::vector<int32_t> byBirth;                   // units
};

/// Looks for offsets with no end above `limit`, nodes of a search tree and visits at most. May miss
/// them; subtracts what it did from `visits`. `turn` picks one of `kProbes` ways to branch.
constexpr int kProbes = 12;
bool probe(const Sections &sections, int64_t limit, int turn, int64_t nodes, int64_t &visits,
           std::vector<int64_t> &offsets);

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SECTIONS_H
