// reprise: a search for offsets below a limit that branches where there is least choice
#ifndef REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
#define REPRISE_LIB_PLANNING_OFFSETS_PROBE_H

#include "Supports.h"

#include <unordered_map>

namespace reprise::offsets {

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
  std::vector<int32_t> rank; // of units
  const Depth *guide = nullptr;
  Depth depth;
  int64_t placed = 0;
  std::unordered_map<uint64_t, Times> deadEnds; // by the hash of all supports, with their blame
};

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_PROBE_H
