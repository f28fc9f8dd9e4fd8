// reprise: orders in which the first launch that fits runs next
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_FIRSTFITTING_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_FIRSTFITTING_H

#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

#include <set>

namespace reprise::checkpoint {

/// The buffers of one schedule, by the launches that make and read them. Replays belong to the
/// launch that needs them first in program order, so bytes are a little more or less than those of
/// the footprint in another order.
class FirstFitting {
public:
  FirstFitting(const Problem &problem, const Footprint &footprint, const LaunchLinks &links,
               const Schedule &schedule);

  /// The first launch of the program that can run and fits runs next. Empty if none fits some time.
  /// O(launches² + reads).
  LaunchOrder find(int64_t most) const;

private:
  struct Buffer {
    int64_t bytes = 0;
    bool isStoredUnread = false; // its kernel stores it, although nothing reads it
    size_t numReaders = 0;       // the end of the step is one, too
  };
  struct Node {
    std::set<size_t> reads; // buffers
    std::vector<size_t> makes;
    std::set<int> next; // launches that wait for it
    int numWaitsFor = 0;
    int64_t scratch = 0;
    /// Buffers that it makes, with one in whose place each can lie.
    std::vector<std::pair<size_t, size_t>> inPlace;
  };
  /// What lies in memory between two launches.
  struct State {
    std::vector<size_t> readersLeft; // per buffer
    int64_t live = 0;
  };
  static constexpr int kUnread = -1, kApart = -2;

  bool isOwn(size_t run) const;
  int launchOf(size_t run) const { return footprint.launches[schedule.runs[run].operation]; }
  const Problem::Operation &op(size_t run) const {
    return problem.operations[schedule.runs[run].operation];
  }
  int sourceOf(size_t run, size_t operand) const {
    return schedule.sources[schedule.runs[run].firstSource + operand];
  }
  void findPlaces();
  void addResults(size_t run);
  void addReads(size_t run);
  void addViewReaders(size_t run);
  void addReader(size_t buffer, int launch);
  int findBuffer(size_t run, size_t operand) const;
  void addNeighbours();
  void addEdge(int from, int to);
  int64_t findGrowth(const Node &node, const State &state) const;
  void carryOut(const Node &node, State &state) const;

  const Problem &problem;
  const Footprint &footprint;
  const LaunchLinks &links;
  const Schedule &schedule;
  std::vector<int> at;                     // per run: the launch that it belongs to
  std::vector<int> inside;                 // per run: the one launch that takes it from registers
  std::vector<std::vector<int>> buffersOf; // per run and result: its buffer, or -1
  std::vector<int> makers;                 // per buffer
  std::vector<Buffer> buffers;
  std::vector<Node> nodes;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_FIRSTFITTING_H
