// reprise: a schedule within a budget, found from its end
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_BACKWARD_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_BACKWARD_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

/// A schedule of whatever cost; none if so many steps find none. The search goes from the last
/// execution to the first and knows which values are needed at each place: before an execution its
/// operands are, and its results are not. Whatever is needed is of use, so only the order is
/// chosen: depth first, executions that are no replays before others, and among these, as asked
/// for, those that need the fewest bytes more, or the last ones of the given order. O(operations²)
/// bits, and per step as much as all operations of one place times operations / 64.
std::optional<Schedule> searchBackward(const Problem &problem, int64_t budget, bool byBytes,
                                       size_t steps);

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_BACKWARD_H
