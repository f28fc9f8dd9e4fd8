// reprise: a schedule of a graph within a budget, found from its end
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SEARCHBACKWARD_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SEARCHBACKWARD_H

#include "Sweep.h"

namespace reprise::checkpoint {

/// Returns a schedule of any cost; none if so many steps find none. The search goes from the last
/// execution to the first. It knows the values that are needed at a place: before an execution its
/// operands are, and its results are not. So only the order is chosen, depth first. Executions that
/// are no replays come before others, and among these, if `byBytes`, those that need the fewest
/// bytes more, else the last ones of the given order. O(operations²) bits, and per step the moves
/// of one place times operations / 64.
std::optional<Executions> searchBackward(const Problem &problem, int64_t budget, bool byBytes,
                                         size_t steps);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_GRAPH_SEARCHBACKWARD_H
