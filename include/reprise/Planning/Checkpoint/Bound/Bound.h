// reprise: what any plan within a budget costs at least
#ifndef REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H
#define REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H

#include "reprise/Planning/Checkpoint/Schedule/Meter.h"
#include "reprise/Planning/IsOver.h"

namespace reprise::checkpoint {

/// Choices, one per value, that are the cheapest at some price of a byte kept across one launch.
struct PricedPlan {
  std::vector<Choice> choices;
};

/// A lower bound of what every plan within a budget takes.
struct Bound {
  double seconds = 0;     // of replays, at least; what MUSTs cost is counted
  bool isFeasible = true; // false: no plan fits
  int launch = 0;         // where no plan fits, or where replays are needed most
  int64_t missing = 0;    // bytes beyond the budget that every plan has there
  std::vector<PricedPlan> plans;
  bool isTruncated = false; // ended early: what was found is a bound, but a weaker one
};

/// Before a launch runs, each value that launches before it made and that its backward readers
/// need is there, or is computed again from what is there or computed again itself. At a price per
/// byte the cheapest such choice is a minimum cut (Picard, Maximal closure of a graph, Management
/// Science 1976), and the best price gives a lower bound (Lagrangian duality) for every plan that
/// keeps the order of the originals, with any number of replays. This is the cut-knapsack bound
/// with the operands of replays counted. Looks at `launches` launches where most is alive;
/// any subset gives a bound. Problem and footprint must be valid. At most thirty minimum cuts of
/// the operations before each launch. \p isOver ends it between cuts and inside of them.
Bound findBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                int launches = 4, const IsOver &isOver = nullptr);

/// The same for plans that may run launches in any order which their reads allow: before the kernel
/// of an operation first runs, whatever it needs has run, and what needs its results has not. So
/// each value made by the former for the latter is there, or computed again later. Weaker than
/// `findBound` where the program's order is kept; looks at some operations where most is alive.
/// Without `plans` and `launch`.
Bound findAnyOrderBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                        int moments = 4, const IsOver &isOver = nullptr);

/// Seconds of replays that every plan takes at least, from all launches together: at a price of a
/// byte for each launch, the cheapest choices are a minimum cut, too, and prices at which it is
/// dear are found by subgradient steps (Polyak, Minimization of unsmooth functionals, 1969) towards
/// `known`, the seconds of a plan that fits, where they end. Weaker at a single launch than
/// `findBound`, and stronger where different launches need different replays. One minimum cut of
/// all operations for each of `steps` steps. In seconds.
double findJointBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                      double known, int steps = 60, const IsOver &isOver = nullptr);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H
