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
    if (footprint.byteSeconds > 0)
      cheapest =
          Pricer(problem, footprint).price(std::vector<double>(footprint.numLaunches)).seconds;
  }

  std::optional<Plan> plan(int64_t budget);
  Plan addStart(Choices choices) {
    pool.push_back(evaluator.evaluate(std::move(choices)));
    return pool.back();
  }
  bool isOpen() const;

  Evaluator evaluator;
  double cheapest = 0; // seconds of any plan, at least

private:
  std::optional<Plan> search();
  void improve(const std::vector<Plan> &starts, std::vector<Plan> &found);

  std::vector<Plan> pool; // plans that are good for some budget, by peak
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
  evaluator.sort(found);
}

/// The best starts are repaired, and what that gives is made cheaper.
std::optional<Plan> BudgetPlanner::Impl::search() {
  static constexpr double kFar = 0.02;
  int64_t evaluations = evaluator.options().evaluations;
  evaluator.allow(evaluations);
  std::vector<Plan> others = findStarts(evaluator, pool), found;
  evaluator.allow(evaluations / 5);
  if (std::optional<Plan> blended = blendStarts(evaluator, others))
    found.push_back(saveWhatFits(evaluator, std::move(*blended)));
  improve(others, found);
  if (!evaluator.isNearBound(found.front(), kFar)) {
    evaluator.allow(evaluations / 5);
    std::vector<Plan> chained = followChain(evaluator);
    evaluator.sort(chained);
    improve(chained, found);
    others.insert(others.end(), chained.begin(), chained.end());
  }
  evaluator.allow(evaluations / 3);
  Plan best = exchange(evaluator, std::move(found.front()));
  Plan second = found.size() > 1 ? found[1] : best;
  if (isSmall(evaluator))
    best = solveExactly(evaluator, std::move(best));
  else
    best = splitReads(evaluator, anneal(evaluator, std::move(best), second, others), others);
  if (best.usage.peak > evaluator.budget())
    return std::nullopt;
  return best;
}

/// Whether another choice for a value that no label speaks of may be cheaper than the plan of the
/// labels. Where bytes have no price, to save is.
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
  std::optional<Plan> best = search();
  if (!best && evaluator.space.hasPrefers()) {
    evaluator.setBudget(budget, /*mayOverridePrefers=*/true);
    best = search();
  }
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
const Plan &BudgetPlanner::smallest() const { return impl->evaluator.smallest(); }
bool BudgetPlanner::isOpen() const { return impl->isOpen(); }
bool BudgetPlanner::isTruncated() const { return impl->evaluator.isTruncated(); }
