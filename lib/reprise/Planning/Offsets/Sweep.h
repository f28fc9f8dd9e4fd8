// reprise: what the sweeps over time share
#ifndef REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H
#define REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H

#include "Packing.h"

namespace reprise::offsets {

/// Time as a sweep goes through it, forward or backward.
struct Direction {
  const std::vector<Unit> &units;
  int64_t alignment;
  bool backward;

  int64_t birth(size_t i) const { return backward ? -units[i].last : units[i].first; }
  int64_t death(size_t i) const { return backward ? -units[i].first : units[i].last; }
  int64_t rounded(size_t i) const {
    return (units[i].size + alignment - 1) / alignment * alignment;
  }

  /// Those born together by size or by life, the larger first.
  void sortByBirth(std::vector<size_t> &list, SweepOrder order) const;
  void sortByDeath(std::vector<size_t> &list) const;
};

/// The first time of the largest load.
int64_t findPeak(const std::vector<Unit> &units);

/// What is live at the peak, from the bottom up.
std::vector<size_t> stackPeak(const std::vector<Unit> &units, int64_t peak, StackOrder order);

/// Gives a stack its offsets, without a gap; returns the height.
int64_t layStack(const std::vector<Unit> &units, int64_t alignment,
                 const std::vector<size_t> &stack, std::vector<int64_t> &offsets);

/// What is born after the peak, in this direction, the first one first.
std::vector<size_t> bornAfter(const Direction &direction, int64_t peak);

} // namespace reprise::offsets

#endif // REPRISE_LIB_PLANNING_OFFSETS_SWEEP_H
