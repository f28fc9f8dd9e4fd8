// reprise: the parts of the search for the cheapest plan within a budget
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H

#include "Evaluator.h"

namespace reprise::checkpoint {

/// Plans to start from, the best first: `pool`, which are plans for other budgets, cuts at prices
/// (Pricer), and every unit recomputed from its inputs, of which every second, third, … is kept
/// (Chen et al., Training deep nets with sublinear memory cost, 2016, arXiv:1604.06174). Sets the
/// bound of the evaluator.
std::vector<Plan> findStarts(Evaluator &evaluator, const std::vector<Plan> &pool);
/// Plans of a chain of units (Chain.h). What the chain needs is an estimate, so its budget moves by
/// what each plan misses. None where there are fewer than four units.
std::vector<Plan> followChain(Evaluator &evaluator);
/// The indices of the two best plans that fit, and of those that do not the nearest one and others
/// that are farther, but much cheaper.
std::vector<size_t> chooseStarts(const Evaluator &evaluator, const std::vector<Plan> &sorted);
/// The best plan between the best start, if it fits, and cheaper ones that do not: of two plans the
/// first units, or the last, of the one and the others of the other, as few of the former as fit.
/// Where many units are alike, a price of bytes moves them all at once, and this is what lies
/// between two prices.
std::optional<Plan> blendStarts(Evaluator &evaluator, const std::vector<Plan> &starts);

/// Changes choices, the best ratio of bytes to seconds first, until the plan fits. Scores grow old
/// as the plan changes, mostly downwards: only the best ones are looked at again (Minoux,
/// Accelerated greedy algorithms, 1978).
Plan repair(Evaluator &evaluator, Plan plan);
/// Saves what is replayed as long as the plan fits, the dearest per byte first.
Plan saveWhatFits(Evaluator &evaluator, Plan plan);
/// Saves a value that is replayed and replays cheaper ones instead, where that is better.
Plan exchange(Evaluator &evaluator, Plan plan);

/// Annealing over choices (Kirkpatrick et al., Optimization by simulated annealing, Science 1983):
/// runs at low and high prices of the excess, from the best plan, but one from the second best,
/// until the plan is near the bound. Where it stays far from it, as many again. Two colder runs
/// come last, which begin at a part of what one value costs: they exchange values of a plan that is
/// good already, of which there may be too many for the runs before. A move changes the choices of
/// one value or of two, or takes over those that a plan of `others`, or a unit of the same shape,
/// has for a unit.
Plan anneal(Evaluator &evaluator, Plan plan, const Plan &second, const std::vector<Plan> &others);

/// Annealing for the least peak. Runs far below it and near it come first, from the starts with the
/// least excess, since the plan of the least peak may be a dead end. The budget of later runs stays
/// a part below the least peak that any evaluation has reached. The result is `smallest()`.
void lowerPeak(Evaluator &evaluator, bool mayOverride, const std::vector<Plan> &others);

/// Keeps values for the first unit that asks for them only, and makes them again for later ones,
/// where that is better: one value after the other, and by annealing as above where values are few.
/// The plan never becomes worse.
Plan splitReads(Evaluator &evaluator, Plan plan, const std::vector<Plan> &others);

/// Whether all choices of the movable values may be tried: those of ten values, mostly.
bool isSmall(const Evaluator &evaluator);
/// The cheapest plan of all choices of the movable values, which may be the given one. Branches
/// whose replays alone cost more than the best plan are cut.
Plan solveExactly(Evaluator &evaluator, Plan plan);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_SEARCH_H
