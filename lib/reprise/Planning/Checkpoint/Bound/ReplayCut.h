// reprise: the cheapest replays for values that are needed, as a minimum cut
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_REPLAYCUT_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_REPLAYCUT_H

#include "../Schedule/LiveRanges.h"
#include "LeastCosts.h"
#include "reprise/Planning/MinCut.h"

#include <map>

namespace reprise::checkpoint {

/// Finds which values are kept and which operations run again, so that every value that is needed
/// is there, at the least cost (Picard, Maximal closure of a graph, Management Science 1976). The
/// model:
///
/// - A needed value is kept, or its operation runs again and needs its operands.
/// - A replay that a kernel reads from memory is **apart**: it runs in a step of replays. Steps
///   cost a launch, and a load of each buffer of another launch. Replays of one launch share both.
/// - Other elementwise replays may run inside the launch that reads them.
/// - A kept value costs its store, and the load of a reader or a replay for it.
class ReplayCut {
public:
  enum class Need : uint8_t { Never, IfRead, Always };

  /// A value, as it is known before the cut.
  struct Value {
    Need need = Need::Never; // Never: it is there for free, or nothing asks for it
    double price = 0;        // of keeping it, beside its store and load
    bool mustStay = false, mustGo = false;
    bool isReadFromMemory = false; // by a kernel that always needs it and may read a replay
  };

  /// How replays pay for the launch, the loads and the store of a step: once for all of the step,
  /// or each its share of `LeastCosts::replay`.
  enum class Steps : uint8_t { Once, SharedOut };

  /// The references must outlive the cut.
  ReplayCut(const Problem &problem, const Footprint &footprint, const LeastCosts &least)
      : problem(problem), footprint(footprint), least(least) {}

  /// Solves the cut. `mayRun` tells which operations may run again. A second of replays costs
  /// `second`.
  void solve(const std::vector<bool> &mayRun, const std::vector<Value> &values, double second,
             Steps steps, const IsOver &isOver);
  bool isEnded() const { return cut.isEnded(); }

  bool isReplayed(int operation) const {
    return again[operation] >= 0 && cut.isOnSourceSide(again[operation]);
  }
  bool isPriced(int value) const { return needed[value] >= 0; }
  bool isNeeded(int value) const { return needed[value] >= 0 && cut.isOnSourceSide(needed[value]); }
  bool isKept(int value) const {
    return isNeeded(value) && (!isReplayed(problem.values[value].operation) || mustStay[value]);
  }
  /// Returns the seconds of all replays with their steps, and of what kept values store and load.
  double findSeconds() const;

private:
  std::vector<bool> findApart(const std::vector<bool> &mayRun,
                              const std::vector<Value> &values) const;
  double findKeep(int value, const Value &known, Steps steps) const;
  /// Adds the node `own`, which costs `seconds` once if any of the operations that ask runs again.
  void addShared(int operation, std::pair<int, int> own, double seconds, double second);
  void addStep(int operation, bool isStored, double second);

  const Problem &problem;
  const Footprint &footprint;
  const LeastCosts &least;
  MinCut cut;
  int source = 0, sink = 0;
  std::vector<int> needed, again; // nodes per value and per operation; -1 for none
  std::vector<bool> mustStay;     // per value
  std::vector<double> seconds;    // per operation, with its store
  std::vector<double> keep;       // per value, in seconds
  /// A step's launch, or a launch and a buffer that it loads, with node and seconds.
  std::map<std::pair<int, int>, std::pair<int, double>> shared;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_REPLAYCUT_H
