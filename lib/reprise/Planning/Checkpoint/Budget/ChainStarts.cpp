// reprise: plans within a budget to start a search from: those of a chain of units
#include "../Bound/Pricer.h"
#include "ChainView.h"
#include "Search.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Choices of inner values that are the cheapest at prices of a byte where the forward pass ends,
/// from everything saved to everything made again; and the same with what is narrow saved.
static std::vector<Choices> listWays(Evaluator &evaluator, const ChainView &view) {
  static constexpr int kWays = 6;
  const SearchSpace &space = evaluator.space;
  std::vector<double> densities;
  for (int value : space.movable)
    if (space.secondsOf(value) > 0)
      densities.push_back(space.densityOf(value));
  std::sort(densities.begin(), densities.end());
  Pricer pricer(space.problem, space.footprint, evaluator.askLate());
  std::vector<double> prices(space.footprint.numLaunches);
  std::vector<Choices> ways;
  for (int i = 0; i < kWays && !densities.empty() && evaluator.mayGoOn(); ++i) {
    double &price = prices[view.lastForwardLaunch()];
    price = 1.01 * densities[i * (densities.size() - 1) / (kWays - 1)];
    ways.push_back(pricer.choose(prices));
  }
  ways.push_back(chooseByLabels(space.problem, /*recomputeAll=*/true));
  for (size_t i = 0, count = ways.size(); i < count; ++i) {
    ways.push_back(ways[i]);
    for (int value : space.movable)
      if (view.isNarrowIn(value))
        ways.back()[value] = Choice::Save;
  }
  for (Choices &choices : ways) {
    for (int value : space.movable)
      choices[value] = view.isUnitInput(value)          ? Choice::Save
                       : choices[value] != Choice::Save ? Choice::ReplayPerUnit
                                                        : Choice::Save;
    evaluator.obey(choices);
  }
  std::sort(ways.begin(), ways.end());
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  return ways;
}

std::vector<Plan> reprise::checkpoint::followChain(Evaluator &evaluator) {
  static constexpr int kMostPlans = 8;
  const SearchSpace &space = evaluator.space;
  std::vector<Plan> plans;
  ChainView view(space.problem, space.footprint, space.units, space.movable);
  if (view.size() < 4 || view.size() > static_cast<int>(kMostUnits))
    return plans;
  Chain chain = view.makeChain();
  std::vector<Choices> ways = listWays(evaluator, view);
  ScheduleBuilder builder(space.problem);
  for (const Choices &choices : ways)
    view.addWay(choices, builder.build(choices), evaluator.profileOf(choices), chain);
  int64_t budget = evaluator.budget(), room = budget;
  for (int i = 0; i < kMostPlans && evaluator.mayGoOn(); ++i) {
    std::optional<ChainPlan> found = solveChain(chain, room);
    if (!found) {
      room += budget / 16;
      continue;
    }
    Choices choices = view.carryOut(*found, ways);
    evaluator.obey(choices);
    plans.push_back(evaluator.evaluate(std::move(choices)));
    int64_t missed = plans.back().usage.peak - budget;
    room -= missed > 0 ? missed : missed / 2;
  }
  return plans;
}
