// reprise: the cheapest plan within a budget, in any order of the launches
#include "reprise/Planning/Checkpoint/Budget/OrderedPlanner.h"

#include "ChoiceMoves.h"
#include "FirstFitting.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace reprise;
using namespace reprise::checkpoint;

/// We order up to so many launches, as each evaluation looks at all of them.
static constexpr int kMostLaunches = 8192;

bool reprise::checkpoint::wantsOrderedChoices(const Problem &problem, const Footprint &footprint) {
  return footprint.numLaunches <= kMostLaunches &&
         std::any_of(problem.operations.begin(), problem.operations.end(),
                     [](const Problem::Operation &op) { return getLevel(op.order) > 1; });
}

class OrderedPlanner::Impl {
public:
  Impl(const Problem &problem, const Footprint &footprint, const LaunchLinks &links,
       BudgetOptions options);

  std::vector<OrderedPlan> plan(int64_t budget, const std::vector<Choices> &choices);
  std::optional<OrderedPlan> order(int64_t budget, const Choices &choices);
  void tryFirstFitting(int64_t budget, const Choices &choices);

  OrderedPlan least;
  Evaluator first, second; // one measures in the order at hand, the other one in its neighbours

private:
  static constexpr double kLow = 20, kHigh = 200; // prices of excess
  enum class Moves { Launches, All };
  std::vector<OrderedPlan> search(int64_t budget, const std::vector<Choices> &choices);
  void start(const OrderedPlan &from);
  OrderedPlan measure(const OrderedPlan &of);
  void cool(const std::vector<Plan> &others, double price, Moves moves);
  bool shift();
  bool changeChoices(const std::vector<Plan> &others);
  bool accept(const Plan &next);
  double energyOf(const Usage &usage) const;
  bool pickPlaces(size_t &from, size_t &to);

  const Footprint &footprint;
  const LaunchLinks &links;
  std::vector<std::vector<int>> waitsFor; // per launch
  LaunchOrder inOrder;
  std::vector<OrderedPlan> pool; // plans for other budgets

  // Of the run at hand.
  Evaluator *here = &first, *there = &second;
  SplitMix random{1};
  OrderedPlan now, best;
  std::vector<int> places; // per launch
  double price = 0, temperature = 0;
};

OrderedPlanner::Impl::Impl(const Problem &problem, const Footprint &footprint,
                           const LaunchLinks &links, BudgetOptions options)
    : first(problem, footprint, options), second(problem, footprint, options), footprint(footprint),
      links(links), waitsFor(links.next.size()), inOrder(links.next.size()) {
  std::iota(inOrder.begin(), inOrder.end(), 0);
  for (int launch : inOrder)
    for (int next : links.next[launch])
      waitsFor[next].push_back(launch);
  least = {inOrder, first.followed()};
}

/// As in program order (Anneal.cpp), so that one price weighs excess against seconds in both.
double OrderedPlanner::Impl::energyOf(const Usage &usage) const {
  return 100 * usage.seconds / std::max(here->space.totalSeconds, 1e-30) +
         price * usage.excess / static_cast<double>(std::max<int64_t>(1, here->budget()));
}

OrderedPlan OrderedPlanner::Impl::measure(const OrderedPlan &of) {
  here->arrange(arrange(footprint, links, of.order));
  OrderedPlan measured{of.order, here->evaluate(of.plan.choices)};
  if (measured.plan.usage.peak < least.plan.usage.peak)
    least = measured;
  return measured;
}

void OrderedPlanner::Impl::start(const OrderedPlan &from) {
  now = measure(from);
  places.resize(now.order.size());
  for (size_t at = 0; at < now.order.size(); ++at)
    places[now.order[at]] = static_cast<int>(at);
}

/// A launch and another place for it, near or far. False if it has none.
bool OrderedPlanner::Impl::pickPlaces(size_t &from, size_t &to) {
  static constexpr int kNear = 8;
  auto count = static_cast<int>(now.order.size());
  int at = random.below(count), low = 0, high = count - 1;
  for (int before : waitsFor[now.order[at]])
    low = std::max(low, places[before] + 1);
  for (int after : links.next[now.order[at]])
    high = std::min(high, places[after] - 1);
  if (random.below(2)) {
    low = std::max(low, at - kNear);
    high = std::min(high, at + kNear);
  }
  from = at;
  to = low + random.below(high - low + 1);
  return from != to;
}

static void moveLaunch(LaunchOrder &order, size_t from, size_t to) {
  auto begin = order.begin();
  if (from < to)
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  else
    std::rotate(begin + to, begin + from, begin + from + 1);
}

/// Whether the walk goes on from there.
bool OrderedPlanner::Impl::accept(const Plan &next) {
  if (here->isBetter(next, best.plan))
    best = {now.order, next};
  double growth = energyOf(next.usage) - energyOf(now.plan.usage);
  return growth <= 0 || random.unit() < std::exp(-growth / temperature);
}

bool OrderedPlanner::Impl::shift() {
  size_t from = 0, to = 0;
  if (!pickPlaces(from, to))
    return false;
  moveLaunch(now.order, from, to);
  there->arrange(arrange(footprint, links, now.order));
  Plan next = there->evaluate(now.plan.choices);
  if (!accept(next)) {
    moveLaunch(now.order, to, from);
    return true;
  }
  now.plan = std::move(next);
  std::swap(here, there);
  for (size_t at = std::min(from, to); at <= std::max(from, to); ++at)
    places[now.order[at]] = static_cast<int>(at);
  return true;
}

bool OrderedPlanner::Impl::changeChoices(const std::vector<Plan> &others) {
  ChoiceMoves moves(*here, kNumChoices - 1, random);
  Choices choices = moves.change(now.plan.choices, others, best.plan);
  if (choices == now.plan.choices)
    return false;
  Plan next = here->evaluate(std::move(choices));
  if (accept(next))
    now.plan = std::move(next);
  return true;
}

/// One run, from `now`.
void OrderedPlanner::Impl::cool(const std::vector<Plan> &others, double startPrice, Moves moves) {
  static constexpr double kHot = 0.5, kCold = 0.02, kRise = 1.05;
  static constexpr int kWindows = 100, kLateWindow = 60, kShiftsPercent = 50;
  price = startPrice;
  int64_t count = first.options().evaluations / kWindows;
  bool hasChoices = moves == Moves::All && !first.space.movable.empty();
  for (int i = 0; i < kWindows; ++i) {
    here->allow(count);
    if (!here->mayGoOn())
      return;
    temperature = kHot * std::pow(kCold / kHot, i / double{kWindows});
    if (i > kLateWindow && now.plan.usage.peak > here->budget())
      price *= kRise;
    for (int64_t move = 0; move < count; ++move)
      if (!hasChoices || random.below(100) < kShiftsPercent)
        shift();
      else
        changeChoices(others);
  }
}

std::vector<OrderedPlan> OrderedPlanner::Impl::search(int64_t budget,
                                                      const std::vector<Choices> &choices) {
  static constexpr double kNear = 0.002;
  std::vector<OrderedPlan> starts = pool, found;
  for (const Choices &each : choices) {
    Choices allowed = each;
    here->obey(allowed);
    starts.push_back({inOrder, {allowed, {}, 0}});
  }
  Bound bound = findAnyOrderBound(first.space.problem, footprint, budget, 4, first.askLate());
  first.setBound(bound);
  second.setBound(bound);
  std::vector<Plan> others;
  for (OrderedPlan &each : starts)
    others.push_back((each = measure(each)).plan);
  auto isBetter = [&](const OrderedPlan &a, const OrderedPlan &b) {
    return here->isBetter(a.plan, b.plan);
  };
  best = *std::min_element(starts.begin(), starts.end(), isBetter);
  for (int run = 0; run < first.options().anneals; ++run) {
    if (here->isNearBound(best.plan, kNear))
      break;
    random = SplitMix(run + 1);
    start(run % 2 ? best : starts[starts.size() - 1 - run / 2 % choices.size()]);
    cool(others, run % 2 ? kHigh : kLow, Moves::All);
    if (now.plan.usage.peak <= budget)
      found.push_back(now);
  }
  std::stable_sort(found.begin(), found.end(), isBetter);
  if (best.plan.usage.peak <= budget)
    found.insert(found.begin(), measure(best));
  return found;
}

std::vector<OrderedPlan> OrderedPlanner::Impl::plan(int64_t budget,
                                                    const std::vector<Choices> &choices) {
  std::vector<OrderedPlan> found;
  for (bool mayOverride : {false, true}) {
    first.setBudget(budget, mayOverride);
    second.setBudget(budget, mayOverride);
    if (found.empty() && (!mayOverride || first.space.hasPrefers()))
      found = search(budget, choices);
  }
  if (!found.empty())
    pool.push_back(found.front());
  return found;
}

/// Tries shares of the peak in program order down to half of it, as `best` may pack better then.
void OrderedPlanner::Impl::tryFirstFitting(int64_t budget, const Choices &choices) {
  static constexpr int64_t kParts = 256;
  ScheduleBuilder builder(first.space.problem);
  const Schedule &schedule = builder.build(choices);
  if (best.plan.usage.peak <= budget || !schedule.isWhole)
    return;
  FirstFitting fitting(first.space.problem, footprint, links, schedule);
  double share = static_cast<double>(best.plan.usage.peak) / kParts;
  for (int64_t part = kParts - 1; part >= kParts / 2 && best.plan.usage.peak > budget; --part) {
    if (here->isLate())
      return;
    LaunchOrder order = fitting.find(static_cast<int64_t>(share * static_cast<double>(part)));
    if (order.empty())
      continue;
    OrderedPlan found = measure({std::move(order), {choices, {}, 0}});
    if (here->isBetter(found.plan, best.plan))
      best = std::move(found);
  }
}

std::optional<OrderedPlan> OrderedPlanner::Impl::order(int64_t budget, const Choices &choices) {
  first.setBudget(budget, /*mayOverridePrefers=*/true);
  second.setBudget(budget, /*mayOverridePrefers=*/true);
  best = measure({inOrder, {choices, {}, 0}});
  if (footprint.numLaunches > kMostLaunches)
    return std::nullopt;
  tryFirstFitting(budget, choices);
  for (int run = 0; run < first.options().anneals && best.plan.usage.peak > budget; ++run) {
    random = SplitMix(run + 1);
    start(best);
    cool({}, run % 2 ? kHigh : kLow, Moves::Launches);
  }
  if (best.plan.usage.peak > budget)
    return std::nullopt;
  return measure(best);
}

OrderedPlan reprise::checkpoint::descendInOrders(const Problem &problem, const Footprint &footprint,
                                                 const LaunchLinks &links, BudgetOptions options) {
  static constexpr double kEffort = 0.25;
  BudgetOptions own = options;
  own.effort *= kEffort;
  OrderedPlanner planner(problem, footprint, links, own);
  Choices followed = planner.smallest().plan.choices;
  if (!wantsOrderedChoices(problem, footprint)) {
    planner.order(1, followed);
    return planner.smallest();
  }
  std::vector<Choices> starts = {followed, Choices(problem.values.size(), Choice::Save)};
  stepDown(planner.smallest().plan.usage.peak, [&](int64_t budget) {
    planner.plan(budget, starts);
    return planner.smallest().plan.usage.peak;
  });
  return planner.smallest();
}

OrderedPlanner::OrderedPlanner(const Problem &problem, const Footprint &footprint,
                               const LaunchLinks &links, BudgetOptions options)
    : impl(std::make_unique<Impl>(problem, footprint, links, std::move(options))) {}
OrderedPlanner::~OrderedPlanner() = default;
std::vector<OrderedPlan> OrderedPlanner::plan(int64_t budget,
                                              const std::vector<std::vector<Choice>> &choices) {
  return impl->plan(budget, choices);
}
std::optional<OrderedPlan> OrderedPlanner::order(int64_t budget,
                                                 const std::vector<Choice> &choices) {
  return impl->order(budget, choices);
}
const OrderedPlan &OrderedPlanner::smallest() const { return impl->least; }
bool OrderedPlanner::isTruncated() const {
  return impl->first.isTruncated() || impl->second.isTruncated();
}
