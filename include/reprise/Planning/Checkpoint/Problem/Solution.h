// reprise: which executions a plan of a checkpoint problem has, and why
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_SOLUTION_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_SOLUTION_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

namespace reprise::checkpoint {

/// An execution of an operation: the original (replay 0), or a replay. `sources` has for every
/// operand the replay number of the execution that is read; 0 for an operand that is available.
struct Execution {
  int operation = 0;
  int replay = 0;
  std::vector<int> sources;
  /// The original before which a replay stands, unless one that reads it comes earlier; -1 leaves
  /// the place to the readers.
  int before = -1;
  /// The launch before which a replay runs, unless a launch that reads it comes earlier; -1 leaves
  /// the place to the readers. Launches outside of the problem count, too.
  int launch = -1;
};

/// A schedule, with decisions and reasons per value. Originals run once, in program order; a
/// replay runs anywhere between its original and its first reader.
struct Solution {
  std::vector<Execution> executions;
  std::vector<Decision> decisions;
  std::vector<Reason> reasons;
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_SOLUTION_H
