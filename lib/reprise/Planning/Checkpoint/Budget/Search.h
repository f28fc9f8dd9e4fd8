// reprise: the parts of the search for the cheapest plan within a budget
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H

#include "Evaluator.h"

namespace reprise::checkpoint {

/// Finds plans to start from, the best first, and sets the bound of the evaluator. The plans are:
///
/// - `pool`, the plans for other budgets;
/// - minimum cuts at prices (Pricer);
/// - every unit recomputed from its inputs, of which every second, third, … is kept (Chen et al.,
///   Training deep nets with sublinear memory cost, 2016, arXiv:1604.06174).
std::vector<Plan> findStarts(Evaluator &evaluator, const std::vector<Plan> &pool);
/// Finds plans of a chain of units (Chain.h). The chain's bytes are an estimate, so its budget
/// moves by the bytes that each plan misses. Fewer than four units have no such plan.
std::vector<Plan> followChain(Evaluator &evaluator);
/// Returns the indices of the two best plans that fit, of the nearest plan that does not fit, and
/// of plans that are farther from fitting and much cheaper.
std::vector<size_t> chooseStarts(const Evaluator &evaluator, const std::vector<Plan> &sorted);
/// Returns the best blend of the best start, if that fits, with cheaper starts that do not. A blend
/// has the first units, or the last, of one plan and the other units of the other; as few units as
/// possible come from the plan that fits. Blends matter if many units are alike: a price of bytes
/// moves all of these at once, and blends lie between two prices.
std::optional<Plan> blendStarts(Evaluator &evaluator, const std::vector<Plan> &starts);

/// Changes choices, the best ratio of bytes to seconds first, until the plan fits. Scores become
/// stale as the plan changes, and mostly fall. So only the best scores are computed again (Minoux,
/// Accelerated greedy algorithms, 1978).
Plan repair(Evaluator &evaluator, Plan plan);
/// Saves what is replayed as long as the plan fits, the dearest per byte first.
Plan saveWhatFits(Evaluator &evaluator, Plan plan);
/// Saves a value that is replayed and replays cheaper ones instead, where that is better.
Plan exchange(Evaluator &evaluator, Plan plan);

/// Anneals choices (Kirkpatrick et al., Optimization by simulated annealing, Science 1983):
///
/// - Runs have low and high prices of the excess. They start from the best plan, one of them from
///   the second best. They end when the plan is near the bound; if it stays far, as many runs
///   follow.
/// - Two colder runs come last. Their temperature begins at a part of the cost of one value. They
///   exchange values of a good plan, of which there may be too many for the earlier runs.
/// - A move changes the choices of one value or two. Or it copies the choices that a plan of
///   `others`, or a unit of the same shape, has for a unit.
Plan anneal(Evaluator &evaluator, Plan plan, const Plan &second, const std::vector<Plan> &others);

/// Anneals for the least peak, which `smallest()` has then. The first runs have budgets far below
/// it and near it. They start from the starts with the least excess, since the plan of the least
/// peak may be a dead end. The budget of later runs stays a part below the least peak of any
/// evaluation.
void lowerPeak(Evaluator &evaluator, bool mayOverride, const std::vector<Plan> &others);

/// Splits the reads of values if that is better: the original serves the first unit that asks for
/// it, and a replay serves later units. Tries one value after the other; if there are few values,
/// anneals as above. The plan never becomes worse.
Plan splitReads(Evaluator &evaluator, Plan plan, const std::vector<Plan> &others);

/// True if few enough values are movable, about ten, to try all their choices.
bool isSmall(const Evaluator &evaluator);
/// Returns the cheapest plan over all choices of the movable values; it may be the given plan.
/// Drops branches whose replays alone cost more than the best plan.
Plan solveExactly(Evaluator &evaluator, Plan plan);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H
