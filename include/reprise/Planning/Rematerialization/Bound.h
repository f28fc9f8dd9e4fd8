// reprise: what no schedule within a budget can do without
#ifndef REPRISE_PLANNING_REMATERIALIZATION_BOUND_H
#define REPRISE_PLANNING_REMATERIALIZATION_BOUND_H

#include "reprise/Planning/Rematerialization/Problem.h"

namespace reprise::remat {

struct Bound {
  /// The least cost above one execution of each operation.
  double extraCost = 0;
  /// Bytes that some operation needs at once, its operands and its results: a smaller budget cannot
  /// be met by any schedule.
  int64_t need = 0;
  /// Operations that a schedule of that cost would execute again, if it exists: at the first
  /// execution of the operation that counts their results free what exceeds the budget. Empty if
  /// only the cost is known.
  std::vector<int> replays;
  bool isFeasible(int64_t budget) const { return need <= budget; }
};

/// Holds for every order and every number of replays. At the first execution of an operation t all
/// values are there, or are executed again later, that its ancestors made and its descendants still
/// read; so some of them, whole, must free what exceeds the budget: a 0/1 knapsack, and the dearest
/// t counts. Of large graphs only some t are looked at, which weakens the bound but keeps it one:
/// sixteen, or as many as `kBoundSteps` reads allow; and a t with thousands of values is looked at
/// in fractions. Of a budget that cannot be met no cost is told.
Bound boundCost(const Problem &problem, int64_t budget);
inline constexpr size_t kBoundSteps = 10'000'000;

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_BOUND_H
