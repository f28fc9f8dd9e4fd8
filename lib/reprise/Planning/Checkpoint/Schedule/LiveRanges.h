// reprise: live ranges: when the values of a problem are made and read, launch by launch
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_LIVERANGES_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_LIVERANGES_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"

#include <climits>

namespace reprise::checkpoint {

/// Launches that make and read a value. Readers of its views count as its readers.
struct LiveRange {
  int made = 0;
  int lastForward = -1;        // the last launch that reads the original in any case; -1 for none
  int firstBackward = INT_MAX; // the launches that read it or a replay
  int lastBackward = -1;
  int lastFromMemory = -1; // the last of these whose kernel reads memory
};

/// The value whose buffer a reader of `value` reads; -1 if it is there anyway.
int findRoot(const Problem &problem, const Footprint &footprint, int value);

/// Returns per value true if a view may keep its buffer, whatever its label.
std::vector<bool> findViewed(const Problem &problem, const Footprint &footprint);

/// Returns the live range of every value.
std::vector<LiveRange> findLiveRanges(const Problem &problem, const Footprint &footprint);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_LIVERANGES_H
