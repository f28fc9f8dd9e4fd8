// reprise: a search for offsets below a limit that branches where there is least choice
#ifndef REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
#define REPRISE_LIB_PLANNING_OFFSETS_PROBE_H

#include "Supports.h"

#include <unordered_map>

namespace reprise::offsets {

/// Search whose units have a support each: the lowest offset that is still possible. At each node
/// one unit is placed on its support, above all conflicting units that are not placed above it; or
/// it is lifted to the lowest offset at which it rests on a unit that is not placed. Each packing
/// that cannot slide down is visited once, for any order of the units, so the next unit may come
/// from a section with little choice.
///
/// A unit whose support is above the room of one of its sections is not the lowest unit there, so
/// that it rests on a unit that can be the lowest. This raises it, and later others, without a
/// branch.
///
/// Units that cross from one section to the next rest at one height in both, which restricts the
/// sums of the units that end and begin between the two.
///
/// If adjacent sections have no byte to spare and are level, adjacent units fill the bottom from
/// one end to the other.
///
/// A dead end is blamed on the sections where it was found, and on those of the units that led
/// there. Units outside of the blame are taken back without another attempt. The blame is
/// incomplete, so a search that ends without a packing proves nothing.
class Probe {
public:
  Probe(const Sections &sections, int64_t limit, const ProbeTurn &turn,
        std::vector<double> &weights, int64_t visits);

  /// Tries the offsets of another one first.
  void follow(const Depth *other) { guide = other; }

  bool run() {
    Times blame(now.states.size());
    return descend(blame) == Result::Found;
  }
  const std::vector<int64_t> &result() const { return now.offsets; }
  const Depth &deepest() const { return depth; }
  int64_t visitsLeft() const { return now.visitsLeft; }

private:
  enum class Result { Found, None, GaveUp };
  struct Lift {
    int32_t unit;
    Times blame;
  };

  Result descend(Times &blame);
  Result fail(Times &blame, Times &mine, const std::vector<Lift> &lifts, uint64_t entry);
  int32_t pick();
  int32_t pickSection(Supports::Span span, int64_t below) const;
  int32_t pickUnit(int32_t section) const;
  int64_t weigh(int32_t unit) const;

  const Sections &sections;
  const ProbeTurn &turn;
  Supports now;
  int64_t nodesLeft;
  std::vector<int32_t> rank; // rank of units
  const Depth *guide = nullptr;
  Depth depth;
  int64_t placed = 0;
  std::unordered_map<uint64_t, Times> deadEnds; // by the hash of all supports, with their blame
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
