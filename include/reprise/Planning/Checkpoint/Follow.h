// reprise: the plan that follows the wishes exactly, without a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_FOLLOW_H
#define REPRISE_PLANNING_CHECKPOINT_FOLLOW_H

#include "reprise/Planning/Checkpoint/Problem.h"

namespace reprise::checkpoint {

/// Obeys every wish, with the exceptions that units bring (docs/Policies.md). Units are pairs of
/// container and order. Values without a wish are saved unless they are nearly free. A replay runs
/// just before its first use and is shared by the operations of one unit, each of which has its
/// own replay number, from `firstReplay` in the order of first use. The problem must be valid.
/// O(operands · depth of the tree · log).
Solution followWishes(const Problem &problem, int firstReplay = 1);

/// Values without a wish that a kernel of their readers can compute again from what is saved
/// anyway: short chains of elementwise operations, views and draws whose backward readers are
/// elementwise or reductions. One flag per value.
std::vector<bool> findNearlyFree(const Problem &problem);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_FOLLOW_H
