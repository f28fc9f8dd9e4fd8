// reprise: a checkpoint problem as its file gives it, before defaults and checks
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_PROBLEM_PROBLEMDRAFT_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_PROBLEM_PROBLEMDRAFT_H

#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"

namespace reprise::checkpoint {

/// Upper limit of the sum of all costs, in the unit of the file.
inline constexpr double kMostCost = 1e30;

/// Members of a file that its problem and footprint do not hold until defaults are filled in.
struct ProblemDraft {
  /// The launch of an operation: left out, null for none, or a number.
  struct Launch {
    bool isGiven = false;
    std::optional<int64_t> number;
    bool isNone() const { return isGiven && !number; }
  };
  std::optional<int64_t> launches;
  std::optional<double> totalCost;
  std::optional<std::vector<int64_t>> units;  // parents, -1 for none
  std::vector<std::optional<int64_t>> unitOf; // per operation
  std::vector<Launch> launchOf;               // per operation
  /// Per value: launches outside the problem that read it.
  std::vector<std::optional<std::vector<int64_t>>> readers;
  /// Per other buffer: launches that read it.
  std::vector<std::optional<std::vector<int64_t>>> bufferReaders;
  /// Per launch: those that it waits for, beside what it reads from. Without it launches stay in
  /// their order.
  std::optional<std::vector<std::vector<int64_t>>> waits;
};

/// The start of a message: "operation 3 'NAME': ".
std::string describeOperation(const ProblemFile &file, size_t index);

/// Fills in what is not given, and checks what no single operation can tell. Returns what is wrong,
/// or nothing.
std::string finishProblem(const ProblemDraft &draft, ProblemFile &file);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_PROBLEM_PROBLEMDRAFT_H
