// reprise: what choices cost: how it is measured
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERSTATE_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERSTATE_H

#include "MeterTables.h"
#include "reprise/Planning/Checkpoint/Schedule/Meter.h"

namespace reprise::checkpoint {

/// Makes the schedule that `ScheduleBuilder` makes, but only of replays and of what the tables
/// leave open, and adds what that changes to what the tables hold.
struct MeterState {
  MeterState(const Problem &problem, const Footprint &footprint);

  Usage measure(const std::vector<Choice> &wanted, int64_t budget);

  std::vector<int64_t> profile; // see Meter

  using Op = MeterTables::Op;
  using Operand = MeterTables::Operand;
  using Places = MeterTables::Places;

  /// An open original or a replay.
  struct Run {
    int operation;
    int slot; // -1 for an original with a launch
    int firstRead;
    int step = -1;
    int nextOwn = -1; // see firstOwn
  };
  /// A replay, or an original without a launch, and facts about its readers.
  struct Slot {
    int buffer = -1;      // of the first result, or the one that is handed on; -1 for none
    int time;             // the launch for which it runs
    int joined = kUnread; // the launch of all readers if they take it from registers; or a reason
    int number = 0;       // of a replay
    int older = -1;       // replay of the operation
  };
  struct Read {
    int slot = -1;
    int buffer = -1;
  };
  /// The last step that reads a buffer, and whether it may make place there.
  struct LastRead {
    int step = -1;
    bool dies = false;
  };
  /// A replay that waits for its operands.
  struct Frame {
    int operation, number, nextOperand;
  };
  /// Places of one step and size, without and with what is open.
  struct Change {
    Places before, after;
    int next; // of the step; -1 for none
  };

  // Schedules.
  void reset();
  bool schedule();
  bool make(int operation, int number, int session, int reader);
  void emit(int operation, int slot, int session);
  Read resolve(const Operand &operand, int session);
  /// The number of the replay that the operand is read from; kOriginal for none.
  int numberFor(const Operand &operand, int session) {
    if (!operand.mayMove)
      return kOriginal;
    Choice choice = (*choices)[operand.value];
    if (choice == Choice::Save || (choice == Choice::SaveThenReplay && isFirst(operand, session)))
      return kOriginal;
    return choice == Choice::ReplayPerUnit ? session : kShared;
  }
  /// True if no other session reads the value back before this one.
  bool isFirst(const Operand &operand, int session);
  int findReplay(unsigned operation, int number) const;
  bool isMissing(const Operand &operand, int session) {
    int number = numberFor(operand, session);
    return number != kOriginal && findReplay(operand.definition, number) < 0;
  }

  // Measures them.
  bool isReplay(const Run &run) const { return run.slot >= tables.numFree; }
  int endOfReads(size_t run) const {
    return run + 1 < runs.size() ? runs[run + 1].firstRead : numReads;
  }
  void findPlaces();
  void numberSteps();
  void findLastReads();
  void addOriginal(int value);
  void addReplay(const Run &run);
  void addBytes(int first, int last, int64_t bytes) {
    changes[first] += bytes;
    changes[std::min(last + 1, numSteps())] -= bytes;
  }
  int numSteps() const { return static_cast<int>(launchOfStep.size()); }
  Places &placesAt(int step, int sizeClass);
  int64_t findSpared(int step) const;
  Usage addUp(int64_t budget);

  // The number of a replay for all sessions, and where there is none.
  static constexpr int kShared = -1, kOriginal = -2;
  // Readers that are none, or that are several launches or need the value in memory.
  static constexpr int kUnread = -1, kApart = -2;

  const Problem &problem;
  MeterTables tables;
  const std::vector<Choice> *choices = nullptr;
  std::vector<Run> runs;
  std::vector<Slot> slots; // of the open originals without a launch, and of replays
  std::vector<Read> reads;
  std::vector<Frame> stack;
  std::vector<int> firstSession;   // per value that is split: the first one that reads it back
  std::vector<int> split;          // values with a first session
  std::vector<int> newest;         // per operation: its last replay; -1 for none
  std::vector<LastRead> lastReads; // of the values' buffers, if they have any; of replays' results
  std::vector<int> read;           // values whose buffers have such reads
  std::vector<int> stepOfLaunch;   // and the number of steps
  std::vector<int> launchOfStep;   // -1 for steps of replays
  std::vector<int> firstOwn;       // per launch: the first run that is a step before it
  std::vector<int64_t> changes;    // per step: of the bytes that are there
  std::vector<int> firstChange;    // per step, in `placeChanges`; -1 for none
  std::vector<Change> placeChanges;
  std::vector<int> firstRun, nextRun;         // per step, and per run of a step; -1 for none
  std::vector<int> valueOf, madeAt, loadedAt; // per buffer: its value and steps; -1 for none
  int numReads = 0, numBuffers = 0, executions = 0;
};

/// Bytes that move for the sake of the choices that were measured last.
int64_t countTraffic(MeterState &meter);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_SCHEDULE_METERSTATE_H
