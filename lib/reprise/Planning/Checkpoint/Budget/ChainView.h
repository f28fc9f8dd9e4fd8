// reprise: a problem seen as a chain of units
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHAINVIEW_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHAINVIEW_H

#include "../Bound/LeastCosts.h"
#include "../Schedule/LiveRanges.h"
#include "reprise/Planning/Checkpoint/Budget/Chain.h"

namespace reprise::checkpoint {

/// The outermost containers with movable values, in program order, and one more unit for what
/// follows them. What a unit makes for later ones is the input of the next. Bytes and seconds of
/// units are read off schedules that are measured with all inputs saved.
class ChainView {
public:
  ChainView(const Problem &problem, const Footprint &footprint, const std::vector<int> &containers,
            const std::vector<int> &movable);

  int size() const { return numUnits; }
  bool isUnitInput(int value) const { return isInput[value]; }
  /// True if hardly more than the value crosses the unit where the value is read.
  bool isNarrowIn(int value) const { return isNarrow[value]; }
  /// The last launch before the backward pass reads anything.
  int lastForwardLaunch() const { return lastForward; }

  /// Returns a chain with inputs and without candidates.
  Chain makeChain() const;
  /// Adds a candidate: the seconds and bytes of each unit in a schedule that has this profile.
  void addWay(const std::vector<Choice> &choices, const Schedule &schedule,
              const std::vector<int64_t> &profile, Chain &chain) const;
  std::vector<Choice> carryOut(const ChainPlan &plan,
                               const std::vector<std::vector<Choice>> &ways) const;

private:
  static constexpr int kNone = -1; // before the first unit

  void numberUnits(const std::vector<int> &containers);
  void findInputs();
  void findNarrow();
  std::vector<int64_t> findCrossing(const std::vector<int> &lastRead) const;
  std::vector<int64_t> findBefore(const std::vector<int> &kept) const;
  /// True if the operation is a forward operation of a unit and has a launch.
  bool isInChain(int operation) const {
    return unitOf[operation] >= 0 && problem.operations[operation].order == 0 &&
           footprint.launches[operation] != kNoLaunch;
  }
  void findUnitsOfLaunches();
  std::vector<int> findKept(const Schedule &schedule) const;
  double findAgain(int unit, const std::vector<Choice> &choices) const;

  const Problem &problem;
  const Footprint &footprint;
  LeastCosts least;
  const std::vector<int> &movable;
  std::vector<LiveRange> ranges;
  int numUnits = 0;
  int lastForward = 0;
  std::vector<int> unitOf;              // per operation
  std::vector<bool> isInput, isNarrow;  // per value
  std::vector<std::vector<int>> inputs; // per unit and one more
  std::vector<int> unitOfLaunch;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHAINVIEW_H
