// reprise: facts of a problem that the search for a plan within a budget uses
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCHSPACE_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCHSPACE_H

#include "../Bound/LeastCosts.h"
#include "../Schedule/LiveRanges.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise::checkpoint {

using Choices = std::vector<Choice>; // one per value

/// The values whose choices matter, and how they belong together. Problem and footprint stay the
/// caller's.
struct SearchSpace {
  SearchSpace(const Problem &problem, const Footprint &footprint);

  /// Seconds that a replay takes per byte that it spares.
  double densityOf(int value) const;
  int unitOf(int value) const { return units[problem.values[value].operation]; }
  /// True if a value for which choices matter has a PREFER.
  bool hasPrefers() const;
  double secondsOf(int value) const { return least.replay[problem.values[value].operation]; }

  const Problem &problem;
  const Footprint &footprint;
  LeastCosts least;
  std::vector<LiveRange> ranges; // per value
  std::vector<bool> isViewed;    // per value
  std::vector<int> units;        // per operation: its outermost container
  std::vector<int> movable;      // values that choices matter for
  std::vector<int> views;        // movable, but for free
  std::vector<bool> mayBeSplit;  // per value: two units or more may ask for it, so that they may
                                 // read different executions
  std::vector<std::vector<int>> valuesOfUnit; // movable ones, of units that have any
  std::vector<std::vector<int>> alike;        // for each of these: those that are like it
  int64_t movableBytes = 0;                   // bytes of all movable values
  int64_t standingBytes = 0; // bytes of other buffers that live as long as the step
  double totalSeconds = 0;   // seconds of one replay of everything

private:
  void findMovable();
  void findAskers();
  void findAlike();
};

/// The choices that the plan without a budget makes; with `recomputeAll`, of a problem whose values
/// without a label prefer to be recomputed.
Choices chooseByLabels(const Problem &problem, bool recomputeAll);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCHSPACE_H
