// reprise: which executions a plan of a checkpoint problem has, and why
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_SOLUTION_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_SOLUTION_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

namespace reprise::checkpoint {

/// What happens to a value in the backward pass.
enum class Decision : uint8_t {
  Saved,     // held, as labelled or for lack of a label
  Kept,      // held against its label
  Replayed,  // computed again
  NotNeeded, // read by neither the backward pass nor a replay
};

/// As reports and plans have it.
std::string_view getText(Decision decision);

/// Why a decision was made.
enum class Reason : uint8_t {
  Label,      // as labelled
  Fastest,    // no label: saving costs less time
  NearlyFree, // no label: computed again inside its consumer's kernel
  BlockInput, // an input of a unit that has replays, or of the last unit
  LastUnit,   // of the last unit before its backward
  Budget,     // the plan that fits the budget says so
  Outlives,   // there in any case
  Moot,       // labelled, but not needed
  NotRead,    // neither
};

/// One execution of an operation: the original (replay 0), or a replay. `sources` names for every
/// operand the execution of its operation that is read, by replay number; 0 where it is available.
struct Execution {
  int operation = 0;
  int replay = 0;
  std::vector<int> sources;
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
