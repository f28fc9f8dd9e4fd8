// reprise: the step around a checkpoint problem: its launches, and what else lies in memory
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_FOOTPRINT_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_FOOTPRINT_H

#include "reprise/Planning/Checkpoint/Problem/Problem.h"

namespace reprise::checkpoint {

/// An operation without a launch: each launch that reads its result makes it for itself, without
/// bytes (views, positions).
inline constexpr int kNoLaunch = -1;

/// A buffer of the step that no choice touches: from launch to launch.
struct Neighbour {
  int first = 0, last = 0;
  int64_t bytes = 0;
};

/// The step around a problem, which defines the bytes and seconds of a schedule. The model:
///
/// - **Launches** are the kernels of the step, in the order in which they run. An original runs in
///   the launch that the footprint gives it, whatever is replayed.
/// - A value lies in memory from the step that makes it to the last step that reads it. A value
///   that its own launch alone reads stays in registers and has no bytes, unless its kernel stores
///   all of its results (`makesAll`): then it lies in memory in the step that makes it.
/// - An elementwise replay whose readers all take it from registers, in one launch, runs inside
///   that launch. Any other replay runs before the first launch that needs it. Replays for one
///   launch that follow each other, come from one launch and have one number are one step of their
///   own.
/// - A result may lie **in place** of an operand of as many bytes that dies in its kernel, if the
///   kernel reads element by element (`takesPlaces`).
/// - **Neighbours** are there in any case, as is the **scratch** of a kernel while it runs.
/// - The **peak** is the most bytes of any step.
/// - The **cost** is what choices add: the seconds of all replays, `launchSeconds` for each step of
///   replays, and `byteSeconds` for each byte that moves for the choices' sake. A buffer is stored
///   once, unless the original is stored whatever is chosen. It is loaded once by each later step
///   that reads it, unless an original of that step loads it whatever is chosen: because no choice
///   moves the read, because the kernel reads memory, or because the value is not elementwise, so
///   that its replay would lie in memory as well.
///
/// Recount.h carries this out step by step; Meter.h does the same fast.
struct Footprint {
  int numLaunches = 0;
  std::vector<int> launches;   // per operation: the launch that runs it, or kNoLaunch
  std::vector<int> times;      // per operation: its launch, or the first launch that reads it
  std::vector<double> seconds; // per operation: of one replay, without its launch and traffic
  double launchSeconds = 0;    // of the launch of a step of replays
  double byteSeconds = 0;      // of a byte that is stored or loaded because of the choices
  // Per operation: bytes that its kernel takes beside operands and results, while it runs, of an
  // original or a replay. None has any if this is empty.
  std::vector<int64_t> scratch;
  // Per operation: its results may lie where operands die, although its kernel reads memory, as the
  // stacks of a loop do. None does if this is empty.
  std::vector<bool> inPlace;
  // Per operation: its kernel stores all of its results, those that nothing reads as well. None
  // does if this is empty.
  std::vector<bool> makesAll;
  // Per value: the last launch outside the problem that reads it, numLaunches if the step returns
  // it; -1 for none.
  std::vector<int> lastOutside;
  std::vector<bool> isStored; // per value: false if its original never lies in the arena
  std::vector<Neighbour> neighbours;

  int64_t scratchOf(size_t operation) const { return scratch.empty() ? 0 : scratch[operation]; }
  bool storesUnread(size_t operation) const { return !makesAll.empty() && makesAll[operation]; }
  /// True if results may lie in place of operands of the same size that die in their kernel.
  bool takesPlaces(const Problem &problem, size_t operation) const {
    Kind kind = problem.operations[operation].kind;
    return kind == Kind::Elementwise || kind == Kind::Reduction ||
           (!inPlace.empty() && inPlace[operation]);
  }
};

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_FOOTPRINT_H
