// reprise: the cheapest plan within a budget
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include "../Bound/Pricer.h"
#include "Search.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Label = Problem::Label;

class BudgetPlanner::Impl {
public:
  Impl(const Problem &problem, const Footprint &footprint, BudgetOptions options)
      : evaluator(problem, footprint, std::move(options)), pool({evaluator.followed()}) {
    if (footprint.byteSeconds == 0)
      return;
    Pricer pricer(problem, footprint, evaluator.askLate());
    double seconds = pricer.price(std::vector<double>(footprint.numLaunches)).seconds;
    cheapest = pricer.isEnded() ? 0 : seconds;
  }

  std::optional<Plan> plan(int64_t budget);
  Plan addStart(Choices choices) {
    pool.push_back(evaluator.evaluate(std::move(choices)));
    return pool.back();
  }
  bool isOpen() const;
  const Descent &descend(bool mayOverride);
  void forget();
  Plan planLeast();
  const Plan &smallest() const;
  bool isTruncated() const {
    return evaluator.isTruncated() ||
           std::any_of(descents, std::end(descents),
                       [](const auto &each) { return each && each->isTruncated; });
  }

  Evaluator evaluator;
  double cheapest = 0; // seconds of any plan, at least

private:
  std::optional<Plan> search(bool mayOverride);
  std::vector<Plan> findFitting(bool mayOverride, std::vector<Plan> &others);
  void addLower(bool mayOverride, const std::vector<Plan> &others, std::vector<Plan> &found);
  Plan makeCheaper(std::vector<Plan> found, const std::vector<Plan> &others);
  void improve(const std::vector<Plan> &starts, std::vector<Plan> &found);

  std::vector<Plan> pool;             // plans that are good for some budget, by peak
  std::optional<Descent> descents[2]; // without and with PREFERs overridden
};

/// The best starts are repaired and filled up, until one of them is near the bound.
void BudgetPlanner::Impl::improve(const std::vector<Plan> &starts, std::vector<Plan> &found) {
  static constexpr double kNearForOneStart = 0.005;
  for (size_t i : chooseStarts(evaluator, starts)) {
    if (!found.empty() && evaluator.isNearBound(found.back(), kNearForOneStart))
      break;
    evaluator.allow(evaluator.options().evaluations / 5);
    found.push_back(saveWhatFits(evaluator, repair(evaluator, starts[i])));
  }
  sortPlans(evaluator, found);
}

const Descent &BudgetPlanner::Impl::descend(bool mayOverride) {
  std::optional<Descent> &found = descents[mayOverride];
  if (!found) {
    const SearchSpace &space = evaluator.space;
    BudgetOptions options = evaluator.options();
    found = checkpoint::descend(space.problem, space.footprint, std::move(options), mayOverride);
  }
  return *found;
}

/// The evaluator's smallest plan may come from a search for a budget, so it goes, too.
void BudgetPlanner::Impl::forget() {
  pool = {evaluator.followed()};
  evaluator.forget();
}

/// Repairs the best starts, and returns them with the best one first.
std::vector<Plan> BudgetPlanner::Impl::findFitting(bool mayOverride, std::vector<Plan> &others) {
  static constexpr double kFar = 0.02;
  int64_t evaluations = evaluator.options().evaluations;
  std::vector<Plan> found;
  evaluator.allow(evaluations / 5);
  if (std::optional<Plan> blended = blendStarts(evaluator, others))
    found.push_back(saveWhatFits(evaluator, std::move(*blended)));
  improve(others, found);
  if (!evaluator.isNearBound(found.front(), kFar)) {
    evaluator.allow(evaluations / 5);
    std::vector<Plan> chained = followChain(evaluator);
    sortPlans(evaluator, chained);
    improve(chained, found);
    others.insert(others.end(), chained.begin(), chained.end());
  }
  return found;
}

/// Adds the plans of the descent, for a budget that no repaired start fits. If none of them fits
/// either but the last one nearly does, annealing from the nearest start follows.
void BudgetPlanner::Impl::addLower(bool mayOverride, const std::vector<Plan> &others,
                                   std::vector<Plan> &found) {
  static constexpr int64_t kNear = 8; // a part of what choices can free
  std::vector<Plan> lower;
  for (const Plan &plan : descend(mayOverride).plans)
    lower.push_back(evaluator.evaluate(plan.choices));
  int64_t excess = lower.back().usage.peak - evaluator.budget();
  if (excess > 0 && excess <= evaluator.findPart(kNear)) {
    evaluator.allow(evaluator.options().evaluations / 3);
    Plan best = exchange(evaluator, found.front());
    Plan second = found.size() > 1 ? found[1] : best;
    lower.push_back(anneal(evaluator, std::move(best), second, others));
  }
  found.insert(found.end(), lower.begin(), lower.end());
  sortPlans(evaluator, found);
}

/// The first of the plans, which fits, and the second are starts.
Plan BudgetPlanner::Impl::makeCheaper(std::vector<Plan> found, const std::vector<Plan> &others) {
  evaluator.allow(evaluator.options().evaluations / 3);
  Plan best = exchange(evaluator, std::move(found.front()));
  Plan second = found.size() > 1 ? found[1] : best;
  if (isSmall(evaluator))
    return solveExactly(evaluator, std::move(best));
  return splitReads(evaluator, anneal(evaluator, std::move(best), second, others), others);
}

Plan BudgetPlanner::Impl::planLeast() {
  const SearchSpace &space = evaluator.space;
  bool mayOverride = space.hasPrefers();
  const std::vector<Plan> &known = descend(mayOverride).plans;
  evaluator.setBudget(known.back().usage.peak, mayOverride);
  evaluator.setBound(
      findBound(space.problem, space.footprint, evaluator.budget(), 4, evaluator.askLate()));
  std::vector<Plan> found;
  for (const Plan &plan : known)
    found.push_back(evaluator.evaluate(plan.choices));
  sortPlans(evaluator, found);
  if (isSmall(evaluator))
    return solveExactly(evaluator, std::move(found.front()));
  evaluator.allow(evaluator.options().evaluations / 3);
  return exchange(evaluator, std::move(found.front()));
}

std::optional<Plan> BudgetPlanner::Impl::search(bool mayOverride) {
  evaluator.setBudget(evaluator.budget(), mayOverride);
  evaluator.allow(evaluator.options().evaluations);
  std::vector<Plan> others = findStarts(evaluator, pool);
  if (!evaluator.mayFit())
    return std::nullopt;
  std::vector<Plan> found = findFitting(mayOverride, others);
  if (found.front().usage.peak > evaluator.budget())
    addLower(mayOverride, others, found);
  if (found.front().usage.peak > evaluator.budget())
    return std::nullopt;
  return makeCheaper(std::move(found), others);
}

const Plan &BudgetPlanner::Impl::smallest() const {
  const Plan *least = &evaluator.smallest();
  for (const std::optional<Descent> &descent : descents)
    if (descent && descent->plans.back().usage.peak < least->usage.peak)
      least = &descent->plans.back();
  return *least;
}

/// True if another choice for a value without a label may be cheaper than the plan of the labels.
/// If bytes have no price, saving is.
bool BudgetPlanner::Impl::isOpen() const {
  const SearchSpace &space = evaluator.space;
  return std::any_of(space.movable.begin(), space.movable.end(), [&](int value) {
    return space.problem.values[value].label == Label::None &&
           (space.footprint.byteSeconds > 0 || evaluator.followed().choices[value] != Choice::Save);
  });
}

std::optional<Plan> BudgetPlanner::Impl::plan(int64_t budget) {
  const Plan &followed = evaluator.followed();
  evaluator.setBudget(budget, /*mayOverridePrefers=*/false);
  if (followed.usage.peak <= budget && (!isOpen() || followed.usage.seconds <= cheapest))
    return followed;
  std::optional<Plan> best = search(/*mayOverride=*/false);
  if (!best && evaluator.space.hasPrefers())
    best = search(/*mayOverride=*/true);
  // More bytes never cost more: what was found for fewer competes, and so does the plan of the
  // labels.
  for (const Plan &known : pool)
    if (known.usage.peak <= budget && !(best && !evaluator.isBetter(known, *best)))
      best = known;
  if (followed.usage.peak <= budget && !evaluator.isBetter(*best, followed))
    return followed;
  if (best)
    pool.push_back(*best);
  return best;
}

BudgetPlanner::BudgetPlanner(const Problem &problem, const Footprint &footprint,
                             BudgetOptions options)
    : impl(std::make_unique<Impl>(problem, footprint, std::move(options))) {}
BudgetPlanner::~BudgetPlanner() = default;
const Plan &BudgetPlanner::followed() const { return impl->evaluator.followed(); }
std::optional<Plan> BudgetPlanner::plan(int64_t budget) { return impl->plan(budget); }
Plan BudgetPlanner::addStart(std::vector<Choice> choices) {
  return impl->addStart(std::move(choices));
}
const Descent &BudgetPlanner::descend() {
  return impl->descend(/*mayOverride=*/impl->evaluator.space.hasPrefers());
}
void BudgetPlanner::forget() { impl->forget(); }
Plan BudgetPlanner::planLeast() { return impl->planLeast(); }
const Plan &BudgetPlanner::smallest() const { return impl->smallest(); }
bool BudgetPlanner::isOpen() const { return impl->isOpen(); }
bool BudgetPlanner::isTruncated() const { return impl->isTruncated(); }
