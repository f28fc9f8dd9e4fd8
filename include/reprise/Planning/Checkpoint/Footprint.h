// reprise: what a schedule of replays costs, in bytes of memory and in seconds
#ifndef REPRISE_PLANNING_CHECKPOINT_FOOTPRINT_H
#define REPRISE_PLANNING_CHECKPOINT_FOOTPRINT_H

#include "reprise/Planning/Checkpoint/Replays.h"

#include <memory>

namespace reprise::checkpoint {

/// An operation without a launch: each launch that reads its result makes it for itself, without
/// bytes (views, positions).
inline constexpr int kNoLaunch = -1;

/// A buffer of the step that no choice touches: from launch to launch.
struct Neighbour {
  int first = 0, last = 0;
  int64_t bytes = 0;
};

/// The step around a problem: launches, in order, and what lies in memory beside its values.
/// True if the operation's kernel reads its operands from memory.
inline bool usesMemory(const Operation &op) {
  return op.kind == Kind::Contraction || op.kind == Kind::Other;
}

struct Footprint {
  int numLaunches = 0;
  std::vector<int> launches;   // per operation: the launch that runs it, or kNoLaunch
  std::vector<int> times;      // the same, but the first launch that reads it instead of kNoLaunch
  std::vector<double> seconds; // per operation: of one replay
  // Per operation: bytes that its kernel takes beside operands and results, while it runs, of an
  // original or a replay. None has any if this is empty.
  std::vector<int64_t> scratch;
  // Per operation: its results may lie where operands die, although its kernel reads memory, as the
  // stacks of a loop do. None does if this is empty.
  std::vector<bool> inPlace;
  // Per value: the last launch outside the problem that reads it, numLaunches if the step returns
  // it; -1 for none.
  std::vector<int> lastOutside;
  std::vector<bool> isStored; // per value: false if its original never lies in the arena
  std::vector<Neighbour> neighbours;

  int64_t scratchOf(size_t operation) const { return scratch.empty() ? 0 : scratch[operation]; }
  /// Whether results lie in the place of operands of the same size that die in their kernel.
  bool takesPlaces(const Problem &problem, size_t operation) const {
    Kind kind = problem.operations[operation].kind;
    return kind == Kind::Elementwise || kind == Kind::Reduction ||
           (!inPlace.empty() && inPlace[operation]);
  }
};

struct Usage {
  int64_t peak = 0;   // bytes
  int peakLaunch = 0; // the launch with it, or the one that the replay with it is for
  double excess = 0;  // bytes beyond the budget, summed over all steps
  double seconds = 0; // of all replays
  int executions = 0; // originals and replays
};

class Measurer;

/// Measures the schedules that choices make. A value lies in memory from the step that makes it to
/// the last step that reads it; one that the step that makes it alone reads stays in registers. An
/// elementwise replay whose readers can all take it from registers, in one launch, runs there;
/// other replays run before the first launch that needs them, and those of one launch that follow
/// each other are one step.
class Meter {
public:
  Meter(const Problem &problem, const Footprint &footprint);
  ~Meter();

  /// A schedule that would be given up has an endless peak. O(launches, replays, and what reads
  /// back).
  Usage measure(const std::vector<Choice> &choices, int64_t budget);
  /// Of the last choices measured: the bytes at each launch.
  const std::vector<int64_t> &profile() const;

private:
  std::unique_ptr<Measurer> measurer;
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_FOOTPRINT_H
