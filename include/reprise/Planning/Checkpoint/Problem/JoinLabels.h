// reprise: one label for all values that show the same memory
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_JOINLABELS_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_JOINLABELS_H

#include "reprise/Planning/Checkpoint/Problem/Solution.h"

namespace reprise::checkpoint {

/// Two values that show the same memory and have two different MUSTs.
struct LabelClash {
  int value = 0; ///< the later one
  int other = 0;
};

/// A value that has got the label of another one.
struct TakenLabel {
  int value = 0;
  int from = 0;
};

/// Makes labels hold for memory, whatever looks at it. `shows` tells per operation whether a reader
/// of its result reads the bytes of operand 0: a view, or what kernels compute as they read.
///
/// - A MUST of a view goes to what it shows, unless the view repeats elements or the gradient made
///   it: its label is then that of another op.
/// - What shows memory that must be recomputed must be recomputed, too. A view without a label
///   prefers it where the memory does, inside one container.
/// - A view in the body of a loop that must be saved is a copy (`remade`), so that this is no
///   contradiction.
///
/// Lists what was changed, in order, in `taken`. Returns the first two MUSTs that contradict each
/// other, if any. O(operations).
std::optional<LabelClash> joinLabels(Problem &problem, const std::vector<bool> &shows,
                                     std::vector<TakenLabel> *taken = nullptr);

/// True per operation for views.
std::vector<bool> findViews(const Problem &problem);

/// A plan holds what a view of it holds. So where nothing but views reads a value, its decision and
/// reason become those that its views stand for. For reports: the judge looks at single reads.
void decideForMemory(const Problem &problem, Solution &solution);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_JOINLABELS_H
