// reprise: the cheapest choices at given prices of a byte
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H

#include "../Schedule/LiveRanges.h"
#include "ReplayCut.h"
#include "reprise/Planning/Checkpoint/Schedule/Replays.h"

namespace reprise::checkpoint {

/// Per launch: the bytes that are there whatever is chosen.
std::vector<int64_t> findFixedBytes(const Problem &problem, const Footprint &footprint);

/// Finds the cheapest choices at prices in seconds per byte, one price per launch. The model:
///
/// - A value is kept from its last forward to its first backward reader, or a replay computes it
///   from kept values and other replays.
/// - A byte that is kept across a launch costs the price of that launch.
/// - A value between two backward readers has no price, nor has a replay that waits for later
///   readers.
///
/// The choices are a minimum cut, as in Bound.h.
class Pricer {
public:
  /// After \p isOver has ended a minimum cut, choices are possible ones, but not the cheapest.
  Pricer(const Problem &problem, const Footprint &footprint, IsOver isOver = nullptr);

  bool isEnded() const { return cut.isEnded(); }
  /// Returns choices whose replays share out what their steps cost (ReplayCut.h).
  std::vector<Choice> choose(const std::vector<double> &prices);

  /// Seconds and bytes of the cheapest choices.
  struct Priced {
    double seconds = 0;        // lower bound for replays and kept values
    std::vector<double> bytes; // per launch: values that are kept across it and not read in it
  };
  Priced price(const std::vector<double> &prices);

private:
  std::optional<double> priceOf(int value, const std::vector<double> &sums) const;
  void solve(const std::vector<double> &prices, ReplayCut::Steps steps);

  const Problem &problem;
  const Footprint &footprint;
  LeastCosts least;
  std::vector<LiveRange> ranges;
  std::vector<bool> isViewed;
  std::vector<int> neededAt; // per value: the first launch that may need it again; INT_MAX for none
  std::vector<bool> mayRun;  // per operation: again
  IsOver isOver;
  ReplayCut cut;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BOUND_PRICER_H
