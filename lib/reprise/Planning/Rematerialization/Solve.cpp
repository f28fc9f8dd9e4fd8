// reprise: the cheapest schedule within a budget that the planner knows how to find
#include "reprise/Planning/Rematerialization/Solve.h"

#include "Backward.h"
#include "Sweep.h"
#include "reprise/Planning/Rematerialization/Anneal.h"
#include "reprise/Planning/Rematerialization/Exact.h"
#include "reprise/Planning/Rematerialization/Repair.h"
#include <algorithm>

namespace reprise::remat {

/// The search from the end takes seconds for this many.
static constexpr size_t kSearched = 65'536;

/// Half a second for 75 operations, four for 500; beyond a thousand a move takes the longer.
static int64_t movesFor(size_t operations) {
  static constexpr int64_t perOperation = 50'000, most = 12'000'000, many = 1000;
  int64_t count = static_cast<int64_t>(operations);
  return std::min(perOperation * count, most) * many / std::max(many, count);
}

/// Where the given order cannot be repaired: any schedule, without replays that it fits without.
static std::optional<Schedule> findAny(const Problem &problem, int64_t budget) {
  static constexpr size_t steps = 10'000;
  for (bool byBytes : {true, false})
    if (std::optional<Schedule> found = searchBackward(problem, budget, byBytes, steps)) {
      prune(problem, budget, *found);
      return found;
    }
  return std::nullopt;
}

/// The smallest budget that a repair meets, about: between one that is not met and one that is.
static int64_t findLowestPeak(const Problem &problem, int64_t budget, int64_t peak) {
  int rounds = problem.operations.size() > kAnnealed ? 3 : 8;
  for (int i = 0; i < rounds && budget < peak; ++i) {
    int64_t middle = budget + (peak - budget) / 2;
    if (std::optional<Schedule> schedule = repair(problem, middle))
      peak = measure(problem, *schedule).peak;
    else
      budget = middle;
  }
  return peak;
}

/// Searches a small graph exactly, from the schedule that is known.
static void prove(const Problem &problem, int64_t budget, double plainCost,
                  const SolveOptions &options, Solution &solution) {
  if (problem.operations.size() > kExactOperations || problem.values.size() > kExactValues)
    return;
  Exact exact = solveExactly(problem, budget,
                             {Orders::Any, solution.schedule, options.states, options.isOver});
  solution.schedule = std::move(exact.schedule);
  solution.isTruncated = exact.isTruncated;
  solution.isRefuted = exact.isProved && !solution.schedule;
  if (!solution.isRefuted)
    solution.bound.extraCost = std::max(solution.bound.extraCost, exact.leastCost - plainCost);
}

Solution solve(const Problem &problem, int64_t budget, const SolveOptions &options) {
  Measure plain = measure(problem, inOrder(problem));
  Solution solution;
  solution.bound = boundCost(problem, budget);
  solution.lowestPeak = plain.peak;
  if (!solution.bound.isFeasible(budget))
    return solution;
  solution.schedule = repair(problem, budget, solution.bound.replays);
  double enough = (plain.cost + solution.bound.extraCost) * (1 + 1e-12);
  bool isDone = solution.schedule && measure(problem, *solution.schedule).cost <= enough;
  if (!solution.schedule && problem.operations.size() <= kSearched)
    solution.schedule = findAny(problem, budget);
  if (!isDone && problem.operations.size() <= kAnnealed) {
    Annealed found = anneal(problem, budget,
                            {movesFor(problem.operations.size()), options.seed,
                             solution.bound.extraCost, solution.schedule, options.isOver});
    solution.schedule = std::move(found.schedule);
    solution.isTruncated = found.isTruncated;
    solution.lowestPeak = std::min(plain.peak, found.lowestPeak);
    isDone = solution.schedule && measure(problem, *solution.schedule).cost <= enough;
    if (!isDone && !solution.isTruncated && options.states > 0)
      prove(problem, budget, plain.cost, options, solution);
  }
  if (!solution.schedule)
    solution.lowestPeak = findLowestPeak(problem, budget, solution.lowestPeak);
  return solution;
}

} // namespace reprise::remat
