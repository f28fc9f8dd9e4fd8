// reprise: the cheapest plan within a budget: starts, what is allowed, and what it comes to
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include "BudgetSearch.h"
#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;
using Search = BudgetSearch;

Search::BudgetSearch(const Problem &problem, const Footprint &footprint, BudgetOptions options)
    : problem(problem), footprint(footprint), options(std::move(options)),
      meter(problem, footprint), ranges(findLiveRanges(problem, footprint)),
      isViewed(findViewed(problem, footprint)) {
  std::vector<int> outermost(problem.containers.size());
  for (size_t i = 1; i < problem.containers.size(); ++i) {
    int parent = problem.containers[i].parent;
    outermost[i] = parent == 0 ? static_cast<int>(i) : outermost[parent];
  }
  for (const Operation &op : problem.operations)
    units.push_back(outermost[op.container]);
  findMovable();
  findAlike();
  for (size_t i = 0; i < problem.operations.size(); ++i)
    totalSeconds += problem.operations[i].primal ? footprint.seconds[i] : 0;
  // One takes some 8 to 20 ns for each operation, more with many replays.
  auto size = static_cast<double>(problem.operations.size() + 1);
  if (this->options.evaluations == 0)
    this->options.evaluations = static_cast<int64_t>(
        this->options.effort *
        std::clamp(24e6 / size * std::min(1.0, std::sqrt(4000 / size)), 60.0, 20'000.0));
  followed.choices = chooseByLabels(/*recomputeAll=*/false);
  left = 1;
  followed = smallest = evaluate(followed.choices, INT64_MAX);
  pool = {followed};
}

/// Values that are read back, or that replays of such values may read. The others are never made
/// again, so that their labels are moot.
void Search::findMovable() {
  std::vector<bool> isNeeded(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    bool mayReplay = false;
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      mayReplay |= op.primal && isNeeded[value];
    for (int operand : op.operands)
      if (operand != kAvailable && !isFixed(problem, operand) &&
          (mayReplay || readsBack(op, problem.operations[problem.values[operand].operation])))
        isNeeded[operand] = true;
  }
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (isNeeded[value]) {
      bool isView = footprint.launches[problem.values[value].operation] == kNoLaunch;
      (isView ? views : movable).push_back(static_cast<int>(value));
    }
}

/// The choices that the plan without a budget makes.
Search::Choices Search::chooseByLabels(bool recomputeAll) const {
  Problem asked = problem;
  for (Value &value : asked.values)
    if (recomputeAll && value.label == Label::None)
      value.label = Label::PreferRecompute;
  Solution solution = followLabels(asked);
  Choices choices(problem.values.size(), Choice::ReplayPerUnit);
  for (size_t value = 0; value < choices.size(); ++value) {
    Decision decision = solution.decisions[value];
    // Held for other units, beside replays for its own.
    bool isInput = solution.reasons[value] == Reason::BlockInput;
    // Of what is not needed, the label says what happens if it is.
    Label label = problem.values[value].label;
    bool asksToSave = label == Label::MustSave || label == Label::PreferSave;
    bool isMoot = decision == Decision::NotNeeded && asksToSave;
    if (decision == Decision::Saved || decision == Decision::Kept || isInput || isMoot)
      choices[value] = Choice::Save;
  }
  return choices;
}

bool Search::allows(int value, Choice choice) const {
  switch (problem.values[value].label) {
  case Label::None:
    return true;
  case Label::MustSave:
    return choice == Choice::Save;
  case Label::MustRecompute:
    return choice != Choice::Save;
  case Label::PreferSave:
    return mayOverride || choice == Choice::Save;
  case Label::PreferRecompute:
    return mayOverride || choice != Choice::Save || followed.choices[value] == Choice::Save;
  }
  return false;
}

/// Makes the choices allowed ones.
void Search::obey(Choices &choices) const {
  for (size_t value = 0; value < choices.size(); ++value)
    if (!allows(static_cast<int>(value), choices[value]))
      choices[value] = choices[value] == Choice::Save ? Choice::ReplayPerUnit : Choice::Save;
}

int64_t Search::countOverridden(const Choices &choices) const {
  int64_t bytes = 0;
  for (int value : movable) {
    Label label = problem.values[value].label;
    bool isSaved = choices[value] == Choice::Save;
    bool wasSaved = followed.choices[value] == Choice::Save;
    if ((label == Label::PreferSave && !isSaved) ||
        (label == Label::PreferRecompute && isSaved && !wasSaved))
      bytes += problem.values[value].bytes;
  }
  return bytes;
}

Plan Search::evaluate(Choices choices, int64_t budget) {
  Plan plan;
  plan.usage = meter.measure(choices, budget);
  // Many replays take as long as several schedules.
  left -=
      std::max<int64_t>(1, plan.usage.executions / static_cast<int64_t>(problem.operations.size()));
  plan.overridden = countOverridden(choices);
  plan.choices = std::move(choices);
  if (plan.usage.peak < smallest.usage.peak)
    smallest = plan;
  return plan;
}

bool Search::isBetter(const Plan &a, const Plan &b, int64_t budget) const {
  bool aFits = a.usage.peak <= budget, bFits = b.usage.peak <= budget;
  if (aFits != bFits)
    return aFits;
  if (!aFits)
    return a.usage.excess < b.usage.excess;
  if (a.overridden != b.overridden)
    return a.overridden < b.overridden;
  return a.usage.seconds < b.usage.seconds;
}

/// True for a plan that fits and is, by a part of the seconds of all replays, near the bound.
bool Search::isNearBound(const Plan &plan, int64_t budget, double part) const {
  return plan.usage.peak <= budget && plan.usage.seconds <= bound + part * totalSeconds;
}

bool Search::mayGoOn() {
  if (!isTruncated && options.isOver && options.isOver())
    isTruncated = true;
  return left > 0 && !isTruncated;
}

/// Every unit recomputed from its inputs, of which every second, third, … is kept (Chen et al.
/// 2016, arXiv:1604.06174): the others are made again, once for all or for each unit.
std::vector<Search::Choices> Search::thinnedUnits() const {
  Choices all = chooseByLabels(/*recomputeAll=*/true);
  std::vector<Choices> result = {all};
  for (int kept : {2, 3, 4, 6, 8, 12, 16})
    for (Choice other : {Choice::Replay, Choice::ReplayPerUnit}) {
      Choices choices = all;
      int unit = -1, number = 0;
      for (int value : movable) {
        if (choices[value] != Choice::Save)
          continue;
        int own = units[problem.values[value].operation];
        number += own != unit;
        unit = own;
        if (number % kept != 0)
          choices[value] = other;
      }
      result.push_back(std::move(choices));
    }
  return result;
}

std::vector<Plan> Search::findStarts(int64_t budget) {
  std::vector<Choices> starts;
  for (const Plan &known : pool)
    starts.push_back(known.choices);
  Bound found = findBound(problem, footprint, budget);
  bound = found.seconds;
  for (PricedPlan &priced : found.plans) {
    starts.push_back(priced.choices);
    for (Choice &choice : priced.choices)
      if (choice == Choice::Replay)
        choice = Choice::ReplayPerUnit;
    starts.push_back(std::move(priced.choices));
  }
  for (Choices &choices : thinnedUnits())
    starts.push_back(std::move(choices));
  std::vector<Plan> plans = followPrices(budget);
  for (Choices &choices : starts) {
    obey(choices);
    plans.push_back(evaluate(std::move(choices), budget));
  }
  sortPlans(plans, budget);
  return plans;
}

/// Prices of bytes rise at launches that have more than the budget, and fall where there is room
/// (Polyak, Minimization of unsmooth functionals, 1969).
std::vector<Plan> Search::followPrices(int64_t budget) {
  static constexpr int kMostSteps = 24;
  Pricer pricer(problem, footprint);
  std::vector<double> prices(footprint.numLaunches);
  std::vector<Plan> plans;
  double least = totalSeconds;
  for (int step = 0; step < kMostSteps && mayGoOn(); ++step) {
    Choices choices = pricer.choose(prices);
    obey(choices);
    plans.push_back(evaluate(std::move(choices), budget));
    const Usage &usage = plans.back().usage;
    if (usage.peak <= budget)
      least = std::min(least, usage.seconds);
    double value = usage.seconds, norm = 0;
    for (size_t launch = 0; launch < prices.size(); ++launch) {
      auto excess = static_cast<double>(meter.profile()[launch] - budget);
      value += prices[launch] * excess;
      norm += excess > 0 || prices[launch] > 0 ? excess * excess : 0;
    }
    double length = std::max(least - value, 0.02 * least) / std::max(norm, 1.0);
    for (size_t launch = 0; launch < prices.size(); ++launch)
      prices[launch] = std::max(
          0.0, prices[launch] + length * static_cast<double>(meter.profile()[launch] - budget));
  }
  return plans;
}

/// The best first; those that are equally good stay in their order.
void Search::sortPlans(std::vector<Plan> &plans, int64_t budget) const {
  std::vector<size_t> order(plans.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    bool aBetter = isBetter(plans[a], plans[b], budget),
         bBetter = isBetter(plans[b], plans[a], budget);
    return aBetter == bBetter ? a < b : aBetter;
  });
  std::vector<Plan> sorted;
  for (size_t index : order)
    sorted.push_back(std::move(plans[index]));
  plans = std::move(sorted);
}

/// The two best plans that fit, and of those that do not the nearest one and others that are
/// farther, but much cheaper.
std::vector<size_t> Search::chooseStarts(const std::vector<Plan> &sorted, int64_t budget) const {
  static constexpr double kMuchCheaper = 0.85;
  std::vector<size_t> chosen;
  size_t fitting = 0, others = 0;
  double cheapest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Usage &usage = sorted[i].usage;
    bool fits = usage.peak <= budget;
    bool isKnown = fits && !chosen.empty() && usage.seconds == sorted[chosen.back()].usage.seconds;
    bool isWanted = fits ? fitting < 2 && !isKnown
                         : others < kMostUnfit && usage.seconds < kMuchCheaper * cheapest;
    if (!isWanted)
      continue;
    chosen.push_back(i);
    cheapest = std::min(cheapest, usage.seconds);
    ++(fits ? fitting : others);
  }
  return chosen;
}

/// The best plan between the best start, if it fits, and cheaper ones that do not.
std::optional<Plan> Search::blendStarts(const std::vector<Plan> &starts, int64_t budget) {
  const Plan &best = starts.front();
  if (best.usage.peak > budget)
    return std::nullopt;
  std::vector<Plan> blends;
  for (size_t i : chooseStarts(starts, budget))
    if (starts[i].usage.peak > budget && starts[i].usage.seconds < best.usage.seconds)
      blend(best, starts[i], budget, blends);
  sortPlans(blends, budget);
  if (blends.empty())
    return std::nullopt;
  return std::move(blends.front());
}

/// The best starts are repaired, and what that gives is made cheaper.
std::optional<Plan> Search::search(int64_t budget) {
  left = options.evaluations;
  static constexpr double kNearForOneStart = 0.005, kFar = 0.02;
  std::vector<Plan> others = findStarts(budget), found;
  left = options.evaluations / 5;
  if (std::optional<Plan> blended = blendStarts(others, budget))
    found.push_back(saveWhatFits(std::move(*blended), budget));
  auto tryStarts = [&](const std::vector<Plan> &starts) {
    for (size_t i : chooseStarts(starts, budget)) {
      if (!found.empty() && isNearBound(found.back(), budget, kNearForOneStart))
        return;
      left = options.evaluations / 5;
      found.push_back(saveWhatFits(repair(starts[i], budget), budget));
    }
  };
  tryStarts(others);
  sortPlans(found, budget);
  if (!isNearBound(found.front(), budget, kFar)) {
    left = options.evaluations / 5;
    std::vector<Plan> chained = followChain(budget);
    sortPlans(chained, budget);
    tryStarts(chained);
    sortPlans(found, budget);
    others.insert(others.end(), chained.begin(), chained.end());
  }
  left = options.evaluations / 3;
  Plan best = exchange(std::move(found.front()), budget);
  Plan second = found.size() > 1 ? found[1] : best;
  best = isSmall(movable) ? findExact(std::move(best), budget)
                          : anneal(std::move(best), second, others, budget);
  if (best.usage.peak > budget)
    return std::nullopt;
  return best;
}

/// Whether a value that no label speaks of could be saved where the plan of the labels replays it.
bool Search::isOpen() const {
  return std::any_of(movable.begin(), movable.end(), [&](int value) {
    return problem.values[value].label == Label::None && followed.choices[value] != Choice::Save;
  });
}

std::optional<Plan> Search::plan(int64_t budget) {
  mayOverride = false;
  if (followed.usage.peak <= budget && (!isOpen() || followed.usage.seconds == 0))
    return followed;
  std::optional<Plan> best = search(budget);
  bool hasPrefers = std::any_of(movable.begin(), movable.end(), [&](int value) {
    Label label = problem.values[value].label;
    return label == Label::PreferSave || label == Label::PreferRecompute;
  });
  if (!best && hasPrefers) {
    mayOverride = true;
    best = search(budget);
  }
  if (followed.usage.peak <= budget && !(best && isBetter(*best, followed, budget)))
    return followed;
  if (best)
    pool.push_back(*best);
  return best;
}

BudgetPlanner::BudgetPlanner(const Problem &problem, const Footprint &footprint,
                             BudgetOptions options)
    : search(std::make_unique<BudgetSearch>(problem, footprint, std::move(options))) {}
BudgetPlanner::~BudgetPlanner() = default;
const Plan &BudgetPlanner::followed() const { return search->followed; }
std::optional<Plan> BudgetPlanner::plan(int64_t budget) { return search->plan(budget); }
const Plan &BudgetPlanner::smallest() const { return search->smallest; }
bool BudgetPlanner::isOpen() const { return search->isOpen(); }
bool BudgetPlanner::isTruncated() const { return search->isTruncated; }
