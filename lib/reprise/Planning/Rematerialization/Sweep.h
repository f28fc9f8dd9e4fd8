// reprise: executes a graph in its order, giving up values and making them again
#ifndef REPRISE_LIB_PLANNING_REMATERIALIZATION_SWEEP_H
#define REPRISE_LIB_PLANNING_REMATERIALIZATION_SWEEP_H

#include "reprise/Planning/Rematerialization/Problem.h"
#include <queue>

namespace reprise::remat {

/// Who reads each value, in order.
struct Readers {
  explicit Readers(const Problem &problem);
  std::vector<int> first; // by value, and one more
  std::vector<int> operations;
};

/// One pass from the first operation to the last.
class Sweep {
public:
  /// `time` holds for each operation what all before it weigh, and the total: what is given up
  /// until its next reader gains its bytes times what lies between. What `isGiven` operations make
  /// is given up first.
  Sweep(const Problem &problem, const Readers &readers, const std::vector<double> &time,
        const std::vector<bool> &isGiven, int64_t budget, bool keepsOperands);
  std::optional<Schedule> run();

private:
  struct Candidate {
    double price; // of a byte given up for a time
    int value, stamp;
    bool isRough; // what it needs was not looked at yet
    bool operator>(const Candidate &other) const {
      return price != other.price ? price > other.price : value > other.value;
    }
  };
  struct Frame {
    int operation;
    size_t operand;
  };

  bool execute(int target);
  bool makeRoom(int64_t bytes);
  bool emit(int number);
  void release(int value);
  void drop(int value);
  void giveUp(int value);
  void offer(int value);
  double priceOf(int value, int visits) const;
  double costOf(int value, int &visits) const;
  /// The operation that reads a value next, the one that runs now included; -1: none.
  int nextReader(int value);

  const Problem &problem;
  const Readers &readers;
  const std::vector<double> &time;
  const std::vector<bool> &isGiven;
  int64_t budget, live = 0;
  bool keepsOperands;
  int now = 0;
  Schedule schedule;
  std::vector<int> holder; // the execution that a value is there from; -1: it is not there
  // By value: until when a replay of another would read it; when it is read next.
  std::vector<int> locks, next, stamps, wanted, due;
  std::vector<Frame> stack;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>> candidates;
};

/// Takes back replays that a schedule fits without.
void prune(const Problem &problem, int64_t budget, Schedule &schedule);

} // namespace reprise::remat

#endif // REPRISE_LIB_PLANNING_REMATERIALIZATION_SWEEP_H
