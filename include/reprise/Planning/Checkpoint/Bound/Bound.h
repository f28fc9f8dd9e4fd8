// reprise: lower bounds of the cost of plans within a budget
#ifndef REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H
#define REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H

#include "reprise/Planning/Checkpoint/Schedule/Meter.h"
#include "reprise/Planning/IsOver.h"

namespace reprise::checkpoint {

/// Choices, one per value, that are the cheapest at some price of a byte kept across one launch.
struct PricedPlan {
  std::vector<Choice> choices;
};

/// A lower bound of the cost of every plan within a budget.
struct Bound {
  double seconds = 0;       // lower bound of the seconds of replays, those of MUSTs included
  bool isFeasible = true;   // false: no plan fits
  int launch = 0;           // launch where no plan fits, or where replays are needed most
  int64_t missing = 0;      // bytes beyond the budget that every plan has at this launch
  bool isTruncated = false; // true: the search ended early, so the bound is valid but weaker
};

/// Returns a lower bound for every plan that keeps the order of the originals, with any number of
/// replays. The model:
///
/// - Before a launch runs, every earlier value that a backward reader needs is in memory, or a
///   replay computes it from values in memory and from other replays.
/// - At a price per byte, the cheapest such choice is a minimum cut (Picard, Maximal closure of a
///   graph, Management Science 1976).
/// - The best price gives the lower bound (Lagrangian duality). This is the cut-knapsack bound with
///   the operands of replays counted.
/// - A replay that a kernel reads from memory also costs its store, and replays of one launch cost
///   that launch and each of its loads once (ReplayCut.h).
///
/// Computes the bound at the `launches` launches with the most live bytes and returns the highest;
/// any subset of launches gives a bound. Problem and footprint must be valid. Solves at most thirty
/// minimum cuts of the operations before each launch. \p isOver ends the search between and inside
/// cuts.
Bound findBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                int launches = 4, const IsOver &isOver = nullptr);

/// Returns plans that are the cheapest at the prices that `findBound` tries, if launches, loads and
/// stores of replays are shared out among the replays that may share them. A search starts from
/// them: such plans keep more in the launches that read it.
std::vector<PricedPlan> findPricedPlans(const Problem &problem, const Footprint &footprint,
                                        int64_t budget, int launches = 4,
                                        const IsOver &isOver = nullptr);

/// Returns a lower bound for plans that may run launches in any order that their reads allow.
/// Before the kernel of an operation first runs, its predecessors have run and its successors have
/// not. So each value that a predecessor makes for a successor is in memory, or is computed again
/// later. If the order is the program's, the bound is weaker than that of `findBound`. Computes it
/// at `moments` operations with many live bytes. Leaves `launch` 0.
Bound findAnyOrderBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                        int moments = 4, const IsOver &isOver = nullptr);

/// Returns a lower bound of the seconds of replays from all launches together. Each launch has a
/// price per byte; at given prices the cheapest choices are a minimum cut. Subgradient steps
/// (Polyak, Minimization of unsmooth functionals, 1969) raise the bound towards `known`, the
/// seconds of a plan that fits. At a single launch the bound is weaker than that of `findBound`; it
/// is stronger if different launches need different replays. Solves one minimum cut of all
/// operations in each of `steps` steps.
double findJointBound(const Problem &problem, const Footprint &footprint, int64_t budget,
                      double known, int steps = 60, const IsOver &isOver = nullptr);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_BOUND_BOUND_H
