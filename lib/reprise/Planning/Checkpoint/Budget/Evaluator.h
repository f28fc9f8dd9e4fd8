// reprise: plans of one problem, measured, judged and compared
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_EVALUATOR_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_EVALUATOR_H

#include "SearchSpace.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include <algorithm>

namespace reprise::checkpoint {

/// Answers the questions that all parts of the search share:
///
/// - which choices are allowed;
/// - which bytes and seconds choices have;
/// - which of two plans is better within the current budget;
/// - whether evaluations are left. Each measurement counts as one.
class Evaluator {
public:
  Evaluator(const Problem &problem, const Footprint &footprint, BudgetOptions options);

  /// Looks for plans within `bytes` from now on; only with `mayOverride` may they go against a
  /// PREFER.
  void setBudget(int64_t bytes, bool mayOverridePrefers);
  int64_t budget() const { return bytes; }
  /// Looks for plans below the least peak that was measured, by a part of it.
  void aimBelow(int64_t part, bool mayOverridePrefers) {
    setBudget(least.usage.peak - findPart(part), mayOverridePrefers);
  }
  /// A part of that peak without the buffers of the whole step, or of all bytes that choices can
  /// free if these are less, in bytes.
  int64_t findPart(int64_t part) const {
    int64_t reach = std::min(least.usage.peak - space.standingBytes, space.movableBytes);
    return std::max<int64_t>(1, reach / part);
  }
  /// A lower bound of the seconds of plans within the budget, and whether any plan may fit.
  void setBound(const Bound &found) {
    bound = found.seconds;
    isPossible = found.isFeasible;
  }
  bool mayFit() const { return isPossible; }
  const BudgetOptions &options() const { return given; }
  const Plan &followed() const { return labelled; }
  const Plan &smallest() const { return least; }
  /// Makes the plan of the labels the smallest one again.
  void forget() { least = labelled; }
  bool isTruncated() const { return isCut; }

  /// Evaluations that may still be made; a part of the search gets its share.
  void allow(int64_t evaluations) { left = evaluations; }
  int64_t remaining() const { return left; }
  /// False when none is left, or the options end the search.
  bool mayGoOn() { return left > 0 && !isOver(); }
  /// True if the options end the search.
  bool isOver() { return isCut |= given.isOver && given.isOver(); }
  /// True if the options end bounds and first plans, too.
  bool isLate();
  /// Returns `isLate` as a function, for parts that know no evaluator.
  IsOver askLate() {
    return [this] { return isLate(); };
  }

  bool allows(int value, Choice choice) const;
  /// Replaces choices that are not allowed by allowed ones.
  void obey(Choices &choices) const;
  Plan evaluate(Choices choices);
  /// Returns the bytes at each launch for the last choices measured.
  const std::vector<int64_t> &profile() const { return meter.profile(); }
  /// Returns the bytes at each launch. The measurement is not counted.
  const std::vector<int64_t> &profileOf(const Choices &choices);

  /// A plan that fits is better than one that does not. Of two that fit, fewer overridden bytes
  /// are better, then fewer seconds; of others, less excess.
  bool isBetter(const Plan &a, const Plan &b) const;
  /// True for a plan that fits and is, by a part of the seconds of all replays, near the bound.
  bool isNearBound(const Plan &plan, double part) const;

  const SearchSpace space;

private:
  BudgetOptions given;
  Meter meter;
  Plan labelled, least;
  int64_t bytes = INT64_MAX, left = 0;
  bool mayOverride = false, isCut = false, isPossible = true;
  double bound = 0;
};

/// Sorts plans from the best to the worst. Plans that are equally good keep their order.
void sortPlans(const Evaluator &evaluator, std::vector<Plan> &plans);

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_EVALUATOR_H
