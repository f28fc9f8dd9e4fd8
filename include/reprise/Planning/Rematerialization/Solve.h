// reprise: the cheapest schedule within a budget that the planner knows how to find
#ifndef REPRISE_PLANNING_REMATERIALIZATION_SOLVE_H
#define REPRISE_PLANNING_REMATERIALIZATION_SOLVE_H

#include "reprise/Planning/Rematerialization/Bound.h"
#include <functional>

namespace reprise::remat {

struct SolveOptions {
  uint64_t seed = 1;
  size_t states = 500'000; ///< of the exact search; none without it
  /// Asked between windows of moves; what was found before counts. Without it the result depends on
  /// the problem, the budget and the seed alone.
  std::function<bool()> isOver = [] { return false; };
};

struct Solution {
  std::optional<Schedule> schedule;
  Bound bound;            ///< with what the exact search proves of the cost
  bool isRefuted = false; ///< the exact search shows that no schedule fits
  bool isTruncated = false;
  int64_t lowestPeak = 0; ///< without a schedule: the smallest budget that is known to be met
};

/// Repairs the given order or, of graphs of up to `kAnnealed` operations, searches from the end
/// where that fails; and anneals these graphs unless what was found is as cheap as the bound. What
/// is not as cheap then, of graphs that `solveExactly` takes, is searched exactly, from the best
/// schedule. A budget that the bound refutes takes no search. The problem must be valid.
Solution solve(const Problem &problem, int64_t budget, const SolveOptions &options = {});
inline constexpr size_t kAnnealed = 8192;

} // namespace reprise::remat

#endif // REPRISE_PLANNING_REMATERIALIZATION_SOLVE_H
