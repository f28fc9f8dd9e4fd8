// reprise: the given order within a budget, by replays; in near-linear time
#ifndef REPRISE_PLANNING_REMATERIALIZATION_REPAIR_H
#define REPRISE_PLANNING_REMATERIALIZATION_REPAIR_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

/// A schedule whose peak is within the budget and that runs the operations for the first time in
/// their order; none if none was found. Where the next execution does not fit, the value is given
/// up that is cheapest to make again for the bytes and the time that it would have taken; it is
/// replayed before its next reader, after what the replay itself lacks. Replays that the end turns
/// out not to need are taken back, the dearest first. Of several ways to weigh time, and as many in
/// which the results of the `replays`, if any, are given up first, the cheapest result counts. The
/// problem must be valid. O(reads · log reads) as long as replays are few.
std::optional<Schedule> repair(const Problem &problem, int64_t budget,
                               const std::vector<int> &replays = {});

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_REPAIR_H
