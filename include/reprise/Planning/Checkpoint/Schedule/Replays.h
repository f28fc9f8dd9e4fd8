// reprise: replays of chosen values, in the order in which the backward pass needs them
#ifndef REPRISE_PLANNING_CHECKPOINT_SCHEDULE_REPLAYS_H
#define REPRISE_PLANNING_CHECKPOINT_SCHEDULE_REPLAYS_H

#include "reprise/Planning/Checkpoint/Problem/Solution.h"

#include <optional>

namespace reprise::checkpoint {

inline constexpr int kNumChoices = std::size(kChoiceTexts);

/// True if the original is kept for a backward reader.
inline bool keepsOriginal(Choice choice) {
  return choice == Choice::Save || choice == Choice::SaveThenReplay;
}

/// Executions in order: originals in program order, and each replay before the original that first
/// needs it.
struct Schedule {
  struct Run {
    int operation = 0;
    int replay = 0;      // 0 for the original
    int reader = 0;      // the original before which it stands; itself for an original
    int firstSource = 0; // in `sources`, one per operand
    int before = -1;     // see Execution
    int launch = -1;     // see Execution
  };
  std::vector<Run> runs;
  std::vector<int> sources; // the run that is read; -1 for what is there whenever it is read
  bool isWhole = true;      // false: it was given up, since it has too many replays
};

/// Per operation: the number of its session, which is its outermost container and its order.
std::vector<int> findSessions(const Problem &problem);

/// Makes schedules of choices, many of one problem. The problem, which must be valid, has one body
/// (no loop is planned inside) and stays the caller's.
class ScheduleBuilder {
public:
  static constexpr size_t kMostRuns = 8;

  explicit ScheduleBuilder(const Problem &problem);

  /// Makes the schedule of choices, one per value. Choices of values that are not primal, or that
  /// outlive the backward pass, are ignored. Replays are numbered from `firstReplay`. If chains are
  /// computed again for unit after unit, the number of replays may be quadratic: beyond `kMostRuns`
  /// runs per operation the schedule is given up. O(runs and their operands).
  const Schedule &build(const std::vector<Choice> &choices, int firstReplay = 1);

private:
  /// A replay that waits for its operands.
  struct Frame {
    int operation, number, nextOperand;
  };
  int &numberOf(int session);
  bool readsOriginal(int value, int session);
  int findRun(int value, int session);
  void make(int value, int session, int reader);
  void emit(int operation, int replay, int reader, int session);

  const Problem &problem;
  const std::vector<Choice> *choices = nullptr;
  std::vector<int> sessionOf;             // per operation: number of its unit and order
  std::vector<std::vector<int>> backward; // per operation: the operands that it reads back
  std::vector<int> original;              // per operation: its run
  std::vector<std::vector<std::pair<int, int>>> replays; // per operation: (number, run)
  std::vector<int> numbers;                              // of replays, per session; 0 for none yet
  std::vector<int> firstSession; // per value: the first one that reads it back; -1 for none yet
  std::vector<Frame> stack;
  Schedule result;
  int shared = 1, next = 2;
};

/// The schedule of executions that a plan names: replays, each behind those that it reads, and the
/// originals that read some of them. Other originals read originals. A replay stands before the
/// original `before`, or before an earlier one that reads it. None if a replay reads an execution
/// that does not stand before it, or if the executions are not those of the problem.
std::optional<Schedule> placeExecutions(const Problem &problem,
                                        const std::vector<Execution> &executions);

/// The solution that a schedule is, with decisions and reasons.
Solution describe(const Problem &problem, const Schedule &schedule);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_SCHEDULE_REPLAYS_H
