// reprise: common parts of the sweeps over time
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H
#define REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H

#include "Packing.h"

namespace reprise::offsets {

/// Time in the direction of a sweep, forward or backward.
struct Direction {
  const std::vector<Unit> &units;
  int64_t alignment;
  bool backward;

  int64_t birth(size_t i) const { return backward ? -units[i].last : units[i].first; }
  int64_t death(size_t i) const { return backward ? -units[i].first : units[i].last; }
  int64_t rounded(size_t i) const {
    return (units[i].size + alignment - 1) / alignment * alignment;
  }

  /// Sorts units by birth; units born together by size or by life, largest first.
  void sortByBirth(std::vector<size_t> &list, SweepOrder order) const;
  void sortByDeath(std::vector<size_t> &list) const;
};

/// The first time of the largest load.
int64_t findPeak(const std::vector<Unit> &units);

/// Returns the live units at the peak, from the bottom up.
std::vector<size_t> stackPeak(const std::vector<Unit> &units, int64_t peak, StackOrder order);

/// Gives a stack its offsets, without a gap; returns the height.
int64_t layStack(const std::vector<Unit> &units, int64_t alignment,
                 const std::vector<size_t> &stack, std::vector<int64_t> &offsets);

/// Returns the units born after the peak, in this direction, first one first.
std::vector<size_t> bornAfter(const Direction &direction, int64_t peak);

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H
