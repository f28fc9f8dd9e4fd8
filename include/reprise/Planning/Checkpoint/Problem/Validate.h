// reprise: the judge of checkpoint problems and their solutions
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_VALIDATE_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_VALIDATE_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"
#include "reprise/Planning/Checkpoint/Problem/Solution.h"

namespace reprise::checkpoint {

/// A defect, and the operation or value that has it; -1 if none has.
struct Defect {
  enum class Kind { Problem, Order, Source, Replay, Label, Decision };
  Kind kind;
  int operation = -1;
  int value = -1;
  std::string message;
};

/// Checks indices, that containers form a tree, and that operands are defined before they are read.
/// Returns the first defect, if any. O(operations and their operands).
std::optional<Defect> validate(const Problem &problem);

/// Checks that a footprint of a valid problem has one entry per operation and value, launches that
/// there are, and seconds and bytes that are finite and not negative: a search compares them, and
/// would not end well with others. Returns the first defect, if any. O(operations + values).
std::optional<Defect> validate(const Problem &problem, const Footprint &footprint);

/// The judge of every solver, which shares nothing with them: originals run once, in program order;
/// only primal operations are replayed; every source ran before; forward reads take the original;
/// every replay is read; MUST holds, PREFER holds or has a reason; decisions say what happens.
/// The problem must be valid. With `isJoined`, values that show the same memory have one label
/// (JoinLabels.h), and nothing may hold memory that must be recomputed. O(executions and their
/// operands · log).
std::optional<Defect> validate(const Problem &problem, const Solution &solution,
                               bool isJoined = false);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_VALIDATE_H
