// reprise: a checkpoint problem as its file gives it, before defaults and checks
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_PROBLEM_PROBLEMDRAFT_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_PROBLEM_PROBLEMDRAFT_H

#include "reprise/Planning/Checkpoint/Problem/ProblemFile.h"

namespace reprise::checkpoint {

/// Costs together are no more than this, whatever they are measured in.
inline constexpr double kMostCost = 1e30;

/// What a file says beside what its problem and footprint hold at once.
struct ProblemDraft {
  /// Nothing, that there is none, or which one.
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
