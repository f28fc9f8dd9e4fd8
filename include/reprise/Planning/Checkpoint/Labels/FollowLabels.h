// reprise: the plan that follows the labels exactly, without a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_LABELS_FOLLOWLABELS_H
#define REPRISE_PLANNING_CHECKPOINT_LABELS_FOLLOWLABELS_H

#include "reprise/Planning/Checkpoint/Problem/Solution.h"

namespace reprise::checkpoint {

/// Obeys every label, with the exceptions that units bring (docs/reference/Policies.md). Units are
/// pairs of container and order. Values without a label are saved unless they are nearly free. A
/// replay runs just before its first use and is shared by the operations of one unit, each of which
/// has its own replay number, from `firstReplay` in the order of first use. The problem must be
/// valid. O(operands · depth of the tree · log).
Solution followLabels(const Problem &problem, int firstReplay = 1);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_LABELS_FOLLOWLABELS_H
