// reprise: plans within a budget to start a search from
#include "../Bound/Pricer.h"
#include "Search.h"

#include <algorithm>
#include <limits>

using namespace reprise::checkpoint;

/// Every unit recomputed from its inputs, of which every second, third, … is kept: the others are
/// made again, once for all or for each unit.
static std::vector<Choices> thinUnits(const SearchSpace &space) {
  Choices all = chooseByLabels(space.problem, /*recomputeAll=*/true);
  std::vector<Choices> result = {all};
  for (int kept : {2, 3, 4, 6, 8, 12, 16})
    for (Choice other : {Choice::Replay, Choice::ReplayPerUnit}) {
      Choices choices = all;
      int unit = -1, number = 0;
      for (int value : space.movable) {
        if (choices[value] != Choice::Save)
          continue;
        int own = space.unitOf(value);
        number += own != unit;
        unit = own;
        if (number % kept != 0)
          choices[value] = other;
      }
      result.push_back(std::move(choices));
    }
  return result;
}

/// Makes further starts if bytes have a price. Values that the labels replay for each unit are
/// replayed once for all units instead, and so is every elementwise value whose keeping has a
/// price.
static std::vector<Choices> replayInside(const Evaluator &evaluator) {
  const SearchSpace &space = evaluator.space;
  if (space.footprint.byteSeconds == 0)
    return {};
  Choices shared = evaluator.followed().choices, inside(shared.size(), Choice::Save);
  for (Choice &choice : shared)
    if (choice == Choice::ReplayPerUnit)
      choice = Choice::Replay;
  for (int value : space.movable) {
    int operation = space.problem.values[value].operation;
    if (space.problem.operations[operation].kind == Kind::Elementwise &&
        space.least.keep[value] > 0)
      inside[value] = Choice::Replay;
  }
  return {shared, inside};
}

/// Prices of bytes rise at launches that have more than the budget, and fall where there is room
/// (Polyak, Minimization of unsmooth functionals, 1969).
static std::vector<Plan> followPrices(Evaluator &evaluator) {
  static constexpr int kMostSteps = 24;
  Pricer pricer(evaluator.space.problem, evaluator.space.footprint, evaluator.askLate());
  std::vector<double> prices(evaluator.space.footprint.numLaunches);
  std::vector<Plan> plans;
  int64_t budget = evaluator.budget();
  double least = evaluator.space.totalSeconds;
  for (int step = 0; step < kMostSteps && evaluator.mayGoOn(); ++step) {
    Choices choices = pricer.choose(prices);
    evaluator.obey(choices);
    plans.push_back(evaluator.evaluate(std::move(choices)));
    const Usage &usage = plans.back().usage;
    const std::vector<int64_t> &profile = evaluator.profile();
    if (usage.peak <= budget)
      least = std::min(least, usage.seconds);
    double value = usage.seconds, norm = 0;
    for (size_t launch = 0; launch < prices.size(); ++launch) {
      auto excess = static_cast<double>(profile[launch] - budget);
      value += prices[launch] * excess;
      norm += excess > 0 || prices[launch] > 0 ? excess * excess : 0;
    }
    double length = std::max(least - value, 0.02 * least) / std::max(norm, 1.0);
    for (size_t launch = 0; launch < prices.size(); ++launch)
      prices[launch] =
          std::max(0.0, prices[launch] + length * static_cast<double>(profile[launch] - budget));
  }
  return plans;
}

std::vector<Plan> reprise::checkpoint::findStarts(Evaluator &evaluator,
                                                  const std::vector<Plan> &pool) {
  const SearchSpace &space = evaluator.space;
  std::vector<Choices> starts;
  for (const Plan &known : pool)
    starts.push_back(known.choices);
  evaluator.setBound(
      findBound(space.problem, space.footprint, evaluator.budget(), 4, evaluator.askLate()));
  for (PricedPlan &priced : findPricedPlans(space.problem, space.footprint, evaluator.budget(), 4,
                                            evaluator.askLate())) {
    starts.push_back(priced.choices);
    for (Choice &choice : priced.choices)
      if (choice == Choice::Replay)
        choice = Choice::ReplayPerUnit;
    starts.push_back(std::move(priced.choices));
  }
  for (Choices &choices : thinUnits(space))
    starts.push_back(std::move(choices));
  for (Choices &choices : replayInside(evaluator))
    starts.push_back(std::move(choices));
  std::vector<Plan> plans = followPrices(evaluator);
  bool isEnough = false;
  for (Choices &choices : starts) {
    if (isEnough && evaluator.isLate())
      break;
    evaluator.obey(choices);
    plans.push_back(evaluator.evaluate(std::move(choices)));
    isEnough |= plans.back().usage.peak <= evaluator.budget();
  }
  sortPlans(evaluator, plans);
  return plans;
}

std::vector<size_t> reprise::checkpoint::chooseStarts(const Evaluator &evaluator,
                                                      const std::vector<Plan> &sorted) {
  static constexpr double kMuchCheaper = 0.85;
  static constexpr size_t kMostFitting = 2, kMostUnfit = 4;
  std::vector<size_t> chosen;
  size_t fitting = 0, others = 0;
  double cheapest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Usage &usage = sorted[i].usage;
    bool fits = usage.peak <= evaluator.budget();
    bool isKnown = fits && !chosen.empty() && usage.seconds == sorted[chosen.back()].usage.seconds;
    bool isWanted = fits ? fitting < kMostFitting && !isKnown
                         : others < kMostUnfit && usage.seconds < kMuchCheaper * cheapest;
    if (!isWanted)
      continue;
    chosen.push_back(i);
    cheapest = std::min(cheapest, usage.seconds);
    ++(fits ? fitting : others);
  }
  return chosen;
}

/// The plans between the two, from the first unit and from the last.
static void blend(Evaluator &evaluator, const Plan &fitting, const Plan &cheaper,
                  std::vector<Plan> &plans) {
  const auto &valuesOfUnit = evaluator.space.valuesOfUnit;
  for (bool fromFront : {true, false}) {
    size_t least = 0, enough = valuesOfUnit.size();
    std::optional<Plan> best;
    while (enough - least > 1 && evaluator.mayGoOn()) {
      size_t middle = (least + enough) / 2;
      Choices choices = cheaper.choices;
      for (size_t i = 0; i < middle; ++i)
        for (int value : valuesOfUnit[fromFront ? i : valuesOfUnit.size() - 1 - i])
          choices[value] = fitting.choices[value];
      Plan plan = evaluator.evaluate(std::move(choices));
      bool fits = plan.usage.peak <= evaluator.budget();
      (fits ? enough : least) = middle;
      if (fits)
        best = std::move(plan);
    }
    if (best)
      plans.push_back(std::move(*best));
  }
}

std::optional<Plan> reprise::checkpoint::blendStarts(Evaluator &evaluator,
                                                     const std::vector<Plan> &starts) {
  const Plan &best = starts.front();
  if (best.usage.peak > evaluator.budget())
    return std::nullopt;
  std::vector<Plan> blends;
  for (size_t i : chooseStarts(evaluator, starts))
    if (starts[i].usage.peak > evaluator.budget() && starts[i].usage.seconds < best.usage.seconds)
      blend(evaluator, best, starts[i], blends);
  sortPlans(evaluator, blends);
  if (blends.empty())
    return std::nullopt;
  return std::move(blends.front());
}
