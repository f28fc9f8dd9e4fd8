// reprise: the cheapest plan within a budget: ways from plan to plan
#include "BudgetSearch.h"

#include <algorithm>
#include <queue>

using namespace reprise::checkpoint;
using Search = BudgetSearch;

/// True if the value, where it is kept, is there at one of the launches.
bool Search::isKeptIn(int value, int first, int last) const {
  return ranges[value].made <= last &&
         std::max(ranges[value].lastForward, ranges[value].lastBackward) >= first;
}

/// Changes of values that are kept across launches with more bytes than the budget, and of whole
/// units.
std::vector<Search::Move> Search::listMoves(int64_t budget) const {
  int first = INT_MAX, last = -1;
  for (size_t launch = 0; launch < meter.profile().size(); ++launch)
    if (meter.profile()[launch] > budget) {
      first = std::min(first, static_cast<int>(launch));
      last = static_cast<int>(launch);
    }
  std::vector<Move> moves;
  for (int value : movable)
    for (Choice choice : {Choice::ReplayPerUnit, Choice::Replay, Choice::Save})
      if (allows(value, choice) && isKeptIn(value, first, last))
        moves.push_back({value, -1, choice});
  std::vector<bool> isListed(problem.containers.size());
  for (int value : movable) {
    int unit = units[problem.values[value].operation];
    if (!isListed[unit])
      moves.push_back({-1, unit, Choice::ReplayPerUnit});
    isListed[unit] = true;
  }
  return moves;
}

std::optional<Search::Choices> Search::apply(const Move &move, const Choices &choices) const {
  Choices result = choices;
  bool changes = false;
  auto set = [&](int value) {
    changes |= result[value] != move.choice;
    result[value] = move.choice;
  };
  if (move.value >= 0)
    set(move.value);
  else
    for (int value : movable)
      if (units[problem.values[value].operation] == move.unit && allows(value, move.choice))
        set(value);
  if (!changes)
    return std::nullopt;
  return result;
}

/// Bytes beyond the budget that go, per second; a byte of a PREFER counts as much as all seconds.
double Search::scoreOf(const Plan &from, const Plan &to) const {
  double gone = from.usage.excess - to.usage.excess;
  if (gone <= 0)
    return gone;
  double seconds = to.usage.seconds - from.usage.seconds;
  seconds += totalSeconds * static_cast<double>(to.overridden - from.overridden);
  return gone / std::max(seconds, totalSeconds * 1e-9);
}

/// The best move first, until the plan fits. Scores grow old as the plan changes, mostly downwards:
/// only the best ones are looked at again (Minoux, Accelerated greedy algorithms, 1978).
Plan Search::repair(Plan plan, int64_t budget) {
  if (plan.usage.peak <= budget)
    return plan;
  std::priority_queue<Move> queue;
  plan = evaluate(std::move(plan.choices), budget); // for its profile
  for (Move &move : listMoves(budget)) {
    if (!mayGoOn())
      break;
    if (std::optional<Choices> choices = apply(move, plan.choices)) {
      move.score = scoreOf(plan, evaluate(std::move(*choices), budget));
      move.round = 0;
      queue.push(move);
    }
  }
  for (int round = 0; plan.usage.peak > budget && !queue.empty() && mayGoOn();) {
    Move move = queue.top();
    queue.pop();
    std::optional<Choices> choices = apply(move, plan.choices);
    if (!choices)
      continue;
    Plan next = evaluate(std::move(*choices), budget);
    move.score = scoreOf(plan, next);
    if (move.score <= 0 && move.round == round)
      break;
    if (move.round != round && !queue.empty() && move.score < queue.top().score) {
      move.round = round;
      queue.push(move);
      continue;
    }
    if (move.score <= 0)
      break;
    plan = std::move(next);
    ++round;
  }
  return plan;
}

/// Seconds that a replay takes per byte that it spares.
double Search::densityOf(int value) const {
  return footprint.seconds[problem.values[value].operation] /
         static_cast<double>(std::max<int64_t>(1, problem.values[value].bytes));
}

/// What is replayed and may be saved, the dearest per byte first.
std::vector<int> Search::listReplayed(const Choices &choices) const {
  std::vector<int> replayed;
  for (int value : movable)
    if (choices[value] != Choice::Save && allows(value, Choice::Save))
      replayed.push_back(value);
  std::sort(replayed.begin(), replayed.end(), [&](int a, int b) {
    double first = densityOf(a), second = densityOf(b);
    return first == second ? a < b : first > second;
  });
  return replayed;
}

/// Saves what is replayed as long as the plan fits.
Plan Search::saveWhatFits(Plan plan, int64_t budget) {
  std::vector<int> replayed = listReplayed(plan.choices);
  for (int value : replayed) {
    if (!mayGoOn())
      break;
    for (Choice choice : {Choice::Save, Choice::Replay}) {
      if (choice == plan.choices[value])
        continue;
      Choices choices = plan.choices;
      choices[value] = choice;
      Plan next = evaluate(std::move(choices), budget);
      if (isBetter(next, plan, budget)) {
        plan = std::move(next);
        break;
      }
    }
  }
  return plan;
}

/// Of the values that are kept at the launch, the cheapest to replay instead whose bytes cover the
/// excess, or else the cheapest per byte; -1 if there is none.
int Search::findVictim(const Choices &choices, int launch, int64_t excess, int spared) const {
  int best = -1;
  auto rank = [&](int value) {
    bool covers = problem.values[value].bytes >= excess;
    double seconds = footprint.seconds[problem.values[value].operation];
    return std::make_pair(!covers, covers ? seconds : densityOf(value));
  };
  for (int value : movable)
    if (value != spared && choices[value] == Choice::Save && problem.values[value].bytes > 0 &&
        allows(value, Choice::Replay) && isKeptIn(value, launch, launch) &&
        (best < 0 || rank(value) < rank(best)))
      best = value;
  return best;
}

/// Saves a value that is replayed and replays cheaper ones instead.
Plan Search::exchange(Plan plan, int64_t budget) {
  static constexpr int kMostVictims = 4;
  std::vector<int> replayed = listReplayed(plan.choices);
  for (int value : replayed) {
    if (!mayGoOn())
      break;
    Choices choices = plan.choices;
    choices[value] = Choice::Save;
    Plan next = evaluate(std::move(choices), budget);
    for (int i = 0; i < kMostVictims && next.usage.peak > budget && mayGoOn(); ++i) {
      int victim = findVictim(next.choices, next.usage.peakLaunch, next.usage.peak - budget, value);
      if (victim < 0)
        break;
      choices = std::move(next.choices);
      choices[victim] = Choice::Replay;
      next = evaluate(std::move(choices), budget);
    }
    if (isBetter(next, plan, budget))
      plan = std::move(next);
  }
  return plan;
}

/// Plans between one that fits and a cheaper one that does not: the first units, or the last, of
/// the one and the others of the other, as few of the former as fit. Where many units are alike,
/// a price of bytes moves them all at once, and this is what lies between two prices.
void Search::blend(const Plan &fitting, const Plan &cheaper, int64_t budget,
                   std::vector<Plan> &plans) {
  for (bool fromFront : {true, false}) {
    size_t least = 0, enough = valuesOfUnit.size();
    std::optional<Plan> best;
    while (enough - least > 1 && mayGoOn()) {
      size_t middle = (least + enough) / 2;
      Choices choices = cheaper.choices;
      for (size_t i = 0; i < middle; ++i)
        for (int value : valuesOfUnit[fromFront ? i : valuesOfUnit.size() - 1 - i])
          choices[value] = fitting.choices[value];
      Plan plan = evaluate(std::move(choices), budget);
      bool fits = plan.usage.peak <= budget;
      (fits ? enough : least) = middle;
      if (fits)
        best = std::move(plan);
    }
    if (best)
      plans.push_back(std::move(*best));
  }
}
