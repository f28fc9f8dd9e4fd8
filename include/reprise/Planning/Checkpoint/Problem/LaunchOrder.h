// reprise: other orders of a step's launches, and the footprint that it has in them
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_LAUNCHORDER_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_LAUNCHORDER_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"

namespace reprise::checkpoint {

/// Launches, by their numbers in program order, in the order in which they run.
using LaunchOrder = std::vector<int>;

/// Facts that other orders of the launches need and that a footprint lacks: which launches wait for
/// each other, and every launch that reads a buffer; a footprint names the last reader only. The
/// number of launches stands for the end of the step.
struct LaunchLinks {
  std::vector<std::vector<int>> next;             ///< per launch: those that wait for it
  std::vector<std::vector<int>> outside;          ///< per value: readers outside the problem
  std::vector<std::vector<int>> readers;          ///< per operation without a launch
  std::vector<std::vector<int>> neighbourReaders; ///< per neighbour
};

/// True if every launch runs once, after the launches that it waits for.
bool isPossible(const LaunchLinks &links, const LaunchOrder &order);

/// The footprint of the same step with its launches in another order, which must be possible.
/// Launches have the numbers of their places there. O(operations, values and links).
Footprint arrange(const Footprint &inOrder, const LaunchLinks &links, const LaunchOrder &order);

/// A step whose operations stand in the order in which their launches run.
struct ReorderedStep {
  Problem problem;
  Footprint footprint;
  std::vector<int> operations, values; ///< per operation and value: its number in program order
};

/// The step with its launches in another order, which must be possible. O(operations and values,
/// sorted, and links).
ReorderedStep reorder(const Problem &problem, const Footprint &inOrder, const LaunchLinks &links,
                      const LaunchOrder &order);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_LAUNCHORDER_H
