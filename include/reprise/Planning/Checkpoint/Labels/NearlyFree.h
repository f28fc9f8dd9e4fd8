// reprise: values that cost next to nothing to compute again
#ifndef REPRISE_PLANNING_CHECKPOINT_LABELS_NEARLYFREE_H
#define REPRISE_PLANNING_CHECKPOINT_LABELS_NEARLYFREE_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

namespace reprise::checkpoint {

/// Values without a label that a kernel of their readers can compute again from what is saved
/// anyway: short chains of elementwise operations, views and draws whose backward readers are
/// elementwise or reductions. One flag per value. The problem must be valid. O(operands + values ·
/// length of a chain).
std::vector<bool> findNearlyFree(const Problem &problem);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_LABELS_NEARLYFREE_H
