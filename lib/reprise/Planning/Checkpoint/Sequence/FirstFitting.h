// reprise: steps of a sequence in an order that fits
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H

#include "Sequence.h"

namespace reprise::checkpoint {

/// Reorders the steps: at each place runs the first step that may run there and whose bytes fit the
/// budget of the sequence, or the one with the fewest bytes if none fits. Each place looks at
/// `kMostWaiting` steps at most, so that long sequences take O(steps · distance).
void orderFirstFitting(Sequence &sequence);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H
