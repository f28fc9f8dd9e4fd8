// reprise: steps of a sequence in an order that fits
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H

#include "Sequence.h"

namespace reprise::checkpoint {

/// Reorders the steps: at each place runs the first step that may run there and whose bytes fit the
/// budget of the sequence, or the one with the fewest bytes if none fits. Each place looks at the
/// next `kMostWaiting` steps only, so the cost grows with the steps and not with their square.
inline constexpr int kMostWaiting = 256;
void orderFirstFitting(Sequence &sequence);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SEQUENCE_FIRSTFITTING_H
