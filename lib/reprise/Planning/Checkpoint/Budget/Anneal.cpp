// reprise: plans within a budget: annealing over choices
#include "ChoiceMoves.h"
#include "Search.h"

#include <algorithm>
#include <cmath>

using namespace reprise;
using namespace reprise::checkpoint;

namespace {
class Annealer {
public:
  Annealer(Evaluator &evaluator, int numChoices)
      : evaluator(evaluator), space(evaluator.space), moves(evaluator, numChoices, random) {}

  static constexpr double kHot = 0.5; // percent of the seconds of all replays

  Plan cool(const Plan &start, const std::vector<Plan> &others, double price, double hot = kHot);
  /// Runs once from the plan of the least peak. The budget stays a part of that peak below it.
  void sink(const std::vector<Plan> &others, double price, int64_t part, bool mayOverride);

private:
  double findUnitOfExcess() const;

  Evaluator &evaluator;
  const SearchSpace &space;
  SplitMix random{1};
  ChoiceMoves moves;
};
} // namespace

/// Excess is measured in budgets, but never in more than all bytes that choices can free. Else a
/// large buffer that no choice moves would make excess free.
double Annealer::findUnitOfExcess() const {
  auto bytes = static_cast<double>(space.movableBytes);
  return std::min(static_cast<double>(evaluator.budget()), std::max(1.0, bytes));
}

/// Runs once and returns the best plan. The energy is the seconds, in percent of a replay of
/// everything, plus the excess of all steps at a price. At the end the price rises as long as no
/// plan fits.
Plan Annealer::cool(const Plan &start, const std::vector<Plan> &others, double price, double hot) {
  static constexpr double kCooling = 0.04, kRise = 1.05;
  static constexpr int kWindows = 100, kLateWindow = 60;
  double unit = findUnitOfExcess();
  auto energyOf = [&](const Usage &usage) {
    return 100 * usage.seconds / space.totalSeconds + price * usage.excess / unit;
  };
  Plan best = start, now = start;
  int64_t count = evaluator.remaining() / kWindows;
  for (int i = 0; i < kWindows && evaluator.mayGoOn(); ++i) {
    double temperature = hot * std::pow(kCooling, i / double{kWindows});
    if (i > kLateWindow && now.usage.peak > evaluator.budget())
      price *= kRise;
    for (int64_t move = 0; move < count && evaluator.remaining() > 0; ++move) {
      Choices choices = moves.change(now.choices, others, best);
      if (choices == now.choices)
        continue;
      Plan next = evaluator.evaluate(std::move(choices));
      double growth = energyOf(next.usage) - energyOf(now.usage);
      if (evaluator.isBetter(next, best))
        best = next;
      if (growth <= 0 || random.unit() < std::exp(-growth / temperature))
        now = std::move(next);
    }
  }
  return best;
}

void Annealer::sink(const std::vector<Plan> &others, double price, int64_t part, bool mayOverride) {
  static constexpr double kCooling = 0.04;
  static constexpr int kWindows = 100;
  Plan now;
  auto aim = [&] {
    evaluator.aimBelow(part, mayOverride);
    now = evaluator.evaluate(evaluator.smallest().choices);
  };
  aim();
  double unit = findUnitOfExcess();
  auto energyOf = [&](const Usage &usage) {
    return 100 * usage.seconds / space.totalSeconds + price * usage.excess / unit;
  };
  int64_t count = evaluator.remaining() / kWindows;
  for (int i = 0; i < kWindows && evaluator.mayGoOn(); ++i) {
    double temperature = kHot * std::pow(kCooling, i / double{kWindows});
    for (int64_t move = 0; move < count && evaluator.remaining() > 0; ++move) {
      Choices choices = moves.change(now.choices, others, evaluator.smallest());
      if (choices == now.choices)
        continue;
      Plan next = evaluator.evaluate(std::move(choices));
      double growth = energyOf(next.usage) - energyOf(now.usage);
      if (next.usage.peak <= evaluator.budget())
        aim();
      else if (growth <= 0 || random.unit() < std::exp(-growth / temperature))
        now = std::move(next);
    }
  }
}

void reprise::checkpoint::lowerPeak(Evaluator &evaluator, bool mayOverride,
                                    const std::vector<Plan> &others) {
  static constexpr double kLow = 20, kHigh = 200, kSteep = 2000;
  if (evaluator.space.movable.empty())
    return;
  Annealer annealer(evaluator, kNumChoices - 1);
  int64_t evaluations = evaluator.options().evaluations;
  for (int64_t part : {2, 8, 32}) {
    evaluator.aimBelow(part, mayOverride);
    std::vector<Plan> starts;
    for (const Plan &other : others)
      starts.push_back(evaluator.evaluate(other.choices));
    sortPlans(evaluator, starts);
    for (double price : {kLow, kHigh}) {
      evaluator.allow(evaluations / 8);
      annealer.cool(starts.front(), others, price);
    }
  }
  for (int64_t part : {8, 32, 128}) {
    evaluator.allow(evaluations / 8);
    annealer.sink(others, kSteep, part, mayOverride);
  }
}

Plan reprise::checkpoint::anneal(Evaluator &evaluator, Plan plan, const Plan &second,
                                 const std::vector<Plan> &others) {
  static constexpr double kLow = 20, kHigh = 200, kNear = 0.002, kFar = 0.02;
  static constexpr int64_t kMostPerValue = 100;
  Annealer annealer(evaluator, kNumChoices - 1);
  auto values = static_cast<int64_t>(evaluator.space.movable.size());
  int anneals = evaluator.options().anneals;
  if (values == 0 || anneals == 0)
    return plan;
  auto run = [&](const Plan &start, double price, double hot) {
    evaluator.allow(std::min<int64_t>(evaluator.options().evaluations / 2, kMostPerValue * values) /
                    anneals);
    Plan found = annealer.cool(start, others, price, hot);
    if (evaluator.isBetter(found, plan))
      plan = std::move(found);
  };
  for (int i = 0; i < 2 * anneals; ++i) {
    // What so many runs do not fit, as many more seldom do.
    bool isHopeless = i >= anneals && plan.usage.peak > evaluator.budget();
    if (isHopeless)
      return plan;
    if (evaluator.isNearBound(plan, i < anneals ? kNear : kFar))
      break;
    run(i == 1 ? second : plan, i % 2 ? kHigh : kLow, Annealer::kHot);
  }
  // Where many values are replayed, those runs begin hotter than one replay costs and end before
  // each value had its turn. So two begin at a part of what a value costs in the mean.
  double mean = 100.0 / static_cast<double>(values);
  for (auto [price, share] : {std::pair(kLow, 0.1), std::pair(kHigh, 0.05)})
    if (!evaluator.isNearBound(plan, kNear))
      run(plan, price, share * mean);
  return plan;
}

/// Splits the reads of one value after the other.
static Plan splitOneByOne(Evaluator &evaluator, Plan plan) {
  for (int value : evaluator.space.movable) {
    if (!evaluator.mayGoOn())
      break;
    bool isNew = plan.choices[value] != Choice::SaveThenReplay &&
                 evaluator.allows(value, Choice::SaveThenReplay);
    if (!evaluator.space.mayBeSplit[value] || !isNew)
      continue;
    Choices choices = plan.choices;
    choices[value] = Choice::SaveThenReplay;
    if (Plan next = evaluator.evaluate(std::move(choices)); evaluator.isBetter(next, plan))
      plan = std::move(next);
  }
  return plan;
}

Plan reprise::checkpoint::splitReads(Evaluator &evaluator, Plan plan,
                                     const std::vector<Plan> &others) {
  static constexpr double kNear = 0.002, kLow = 20, kHigh = 200;
  static constexpr size_t kMostValues = 64;
  static constexpr int64_t kMostPerValue = 100;
  const SearchSpace &space = evaluator.space;
  bool isNever = std::none_of(space.movable.begin(), space.movable.end(),
                              [&](int value) { return space.mayBeSplit[value]; });
  if (isNever || evaluator.isNearBound(plan, kNear))
    return plan;
  int64_t evaluations = evaluator.options().evaluations;
  evaluator.allow(evaluations / 20);
  plan = splitOneByOne(evaluator, std::move(plan));
  if (space.movable.size() > kMostValues)
    return plan;
  Annealer annealer(evaluator, kNumChoices);
  auto most = kMostPerValue * static_cast<int64_t>(space.movable.size());
  for (int run = 0, runs = evaluator.options().anneals; run < runs; ++run) {
    if (evaluator.isNearBound(plan, kNear))
      break;
    evaluator.allow(std::min(evaluations / 2, most) / runs);
    Plan found = annealer.cool(plan, others, run % 2 ? kHigh : kLow);
    if (evaluator.isBetter(found, plan))
      plan = std::move(found);
  }
  return plan;
}
