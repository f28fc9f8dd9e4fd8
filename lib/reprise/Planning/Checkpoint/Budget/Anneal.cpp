// reprise: the cheapest plan within a budget: annealing over choices
#include "BudgetSearch.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace reprise::checkpoint;
using Operation = Problem::Operation;
using Search = BudgetSearch;

/// Units whose values are alike, such as equal layers, may take each other's choices.
void Search::findAlike() {
  std::map<int, std::vector<int>> members; // values, by unit
  for (int value : movable)
    members[units[problem.values[value].operation]].push_back(value);
  std::map<std::vector<int64_t>, std::vector<int>> classes;
  for (auto &[unit, values] : members) {
    std::vector<int64_t> shape;
    for (int value : values) {
      const Operation &op = problem.operations[problem.values[value].operation];
      for (int64_t number : {problem.values[value].bytes, op.flops, static_cast<int64_t>(op.kind)})
        shape.push_back(number);
    }
    classes[shape].push_back(static_cast<int>(valuesOfUnit.size()));
    valuesOfUnit.push_back(std::move(values));
  }
  alike.resize(valuesOfUnit.size());
  for (auto &[shape, list] : classes)
    for (int unit : list)
      alike[unit] = list;
}

/// Another choice of a value, or of two that are often near each other.
void Search::changeValues(Choices &choices) {
  static constexpr int kNear = 6;
  int size = static_cast<int>(movable.size()), at = random.below(size);
  for (int i = 0, number = 1 + (random.below(10) < 4); i < number; ++i) {
    int value = movable[at];
    auto choice = static_cast<Choice>(random.below(3));
    if (choice == choices[value])
      choice = choice == Choice::Save ? Choice::Replay : Choice::Save;
    if (allows(value, choice))
      choices[value] = choice;
    int step = 1 + random.below(kNear);
    at = random.below(10) < 4 ? random.below(size)
                              : std::clamp(random.below(2) ? at + step : at - step, 0, size - 1);
  }
}

/// The choices that a plan has for a unit like it.
void Search::copyUnit(Choices &choices, const Choices &from) {
  int to = random.below(static_cast<int>(valuesOfUnit.size()));
  int like = alike[to][random.below(static_cast<int>(alike[to].size()))];
  for (size_t i = 0; i < valuesOfUnit[to].size(); ++i)
    if (Choice choice = from[valuesOfUnit[like][i]]; allows(valuesOfUnit[to][i], choice))
      choices[valuesOfUnit[to][i]] = choice;
}

/// One run. The energy is the seconds in percent of a replay of everything, and the excess of all
/// steps in budgets at a price, which rises at the end as long as nothing fits (Kirkpatrick et al.,
/// Optimization by simulated annealing, Science 1983).
Plan Search::cool(const Plan &start, const std::vector<Plan> &others, double price,
                  int64_t budget) {
  static constexpr double kHot = 0.5, kCold = 0.02, kRise = 1.05;
  static constexpr int kWindows = 100, kLateWindow = 60, kCopiesPercent = 15;
  auto energyOf = [&](const Usage &usage) {
    return 100 * usage.seconds / totalSeconds + price * usage.excess / static_cast<double>(budget);
  };
  Plan best = start, now = start;
  int64_t moves = left / kWindows;
  for (int i = 0; i < kWindows && mayGoOn(); ++i) {
    double temperature = kHot * std::pow(kCold / kHot, i / double{kWindows});
    if (i > kLateWindow && now.usage.peak > budget)
      price *= kRise;
    for (int64_t move = 0; move < moves && left > 0; ++move) {
      Choices choices = now.choices;
      if (random.below(100) >= kCopiesPercent)
        changeValues(choices);
      else
        copyUnit(choices, random.below(3)
                              ? others[random.below(static_cast<int>(others.size()))].choices
                              : best.choices);
      if (choices == now.choices)
        continue;
      Plan next = evaluate(std::move(choices), budget);
      double growth = energyOf(next.usage) - energyOf(now.usage);
      if (isBetter(next, best, budget))
        best = next;
      if (growth <= 0 || random.unit() < std::exp(-growth / temperature))
        now = std::move(next);
    }
  }
  return best;
}

/// Runs at low and high prices of the excess, from the best plan, but one from the second best,
/// until that is near the bound. Where it stays far from it, as many again.
Plan Search::anneal(Plan plan, const Plan &second, const std::vector<Plan> &others,
                    int64_t budget) {
  static constexpr double kLow = 20, kHigh = 200, kNear = 0.002, kFar = 0.02;
  static constexpr int64_t kMostPerValue = 100;
  random = SplitMix(1);
  for (int run = 0; run < 2 * options.anneals && !movable.empty(); ++run) {
    if (isNearBound(plan, budget, run < options.anneals ? kNear : kFar))
      break;
    left = std::min<int64_t>(options.evaluations / 2,
                             kMostPerValue * static_cast<int64_t>(movable.size())) /
           options.anneals;
    Plan found = cool(run == 1 ? second : plan, others, run % 2 ? kHigh : kLow, budget);
    if (isBetter(found, plan, budget))
      plan = std::move(found);
  }
  return plan;
}
