// reprise: the cheapest choices at given prices of a byte
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H

#include "../Schedule/LiveRanges.h"
#include "LeastCosts.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"
#include "reprise/Planning/MinCut.h"

namespace reprise::checkpoint {

/// Per launch: the bytes that are there whatever is chosen.
std::vector<int64_t> findFixedBytes(const Problem &problem, const Footprint &footprint);

/// The cheapest choices where a byte that is kept across a launch has that launch's price, in
/// seconds: a value is kept from its last forward reader to its first backward one, or computed
/// again from what is kept or computed again itself. A minimum cut, as in Bound.h. What is kept
/// between two backward readers has no price, nor have replays that wait for later readers.
class Pricer {
public:
  /// After \p isOver has ended a minimum cut, choices are possible ones, but not the cheapest.
  Pricer(const Problem &problem, const Footprint &footprint, IsOver isOver = nullptr);

  bool isEnded() const { return cut.isEnded(); }
  std::vector<Choice> choose(const std::vector<double> &prices);

  /// What the choices come to.
  struct Priced {
    double seconds = 0;        // at least, of replays and of what is kept
    std::vector<double> bytes; // per launch: what is only kept across it
  };
  Priced price(const std::vector<double> &prices);

private:
  bool isReplayed(int operation) const {
    return again[operation] >= 0 && cut.isOnSourceSide(again[operation]);
  }
  bool isNeeded(int value) const {
    return needed[value] >= 0 ? cut.isOnSourceSide(needed[value]) : neededAt[value] != INT_MAX;
  }
  std::optional<double> priceOf(int value, const std::vector<double> &sums) const;
  void build(const std::vector<double> &sums);
  void solve(const std::vector<double> &prices);

  const Problem &problem;
  const Footprint &footprint;
  LeastCosts least;
  std::vector<LiveRange> ranges;
  std::vector<bool> isViewed;
  std::vector<int> neededAt; // per value: the first launch that may need it again; INT_MAX for none
  IsOver isOver;
  MinCut cut;
  int source = 0, sink = 0;
  std::vector<int> needed, again; // nodes per value and per operation; -1 for none
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H
