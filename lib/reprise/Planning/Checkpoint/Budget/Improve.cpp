// reprise: plans within a budget: repaired, filled up, and exchanged for cheaper ones
#include "Search.h"

#include <algorithm>
#include <queue>

using namespace reprise::checkpoint;

namespace {
/// A change of one value's choice, or of all values of a unit that may be recomputed.
struct Move {
  int value = -1, unit = -1;
  Choice choice = Choice::Save;
  double score = 0;
  int round = -1; // in which the score was found
  bool operator<(const Move &other) const { return score < other.score; }
};
} // namespace

/// True if the value, where it is kept, is there at one of the launches.
static bool isKeptIn(const LiveRange &range, int first, int last) {
  return range.made <= last && std::max(range.lastForward, range.lastBackward) >= first;
}

/// Changes of values that are kept across launches with more bytes than the budget, and of whole
/// units.
static std::vector<Move> listMoves(const Evaluator &evaluator) {
  const SearchSpace &space = evaluator.space;
  int first = INT_MAX, last = -1;
  for (size_t launch = 0; launch < evaluator.profile().size(); ++launch)
    if (evaluator.profile()[launch] > evaluator.budget()) {
      first = std::min(first, static_cast<int>(launch));
      last = static_cast<int>(launch);
    }
  std::vector<Move> moves;
  for (int value : space.movable)
    for (Choice choice : {Choice::ReplayPerUnit, Choice::Replay, Choice::Save})
      if (evaluator.allows(value, choice) && isKeptIn(space.ranges[value], first, last))
        moves.push_back({value, -1, choice});
  std::vector<bool> isListed(space.problem.containers.size());
  for (int value : space.movable) {
    int unit = space.unitOf(value);
    if (!isListed[unit])
      moves.push_back({-1, unit, Choice::ReplayPerUnit});
    isListed[unit] = true;
  }
  return moves;
}

/// None if the move changes nothing.
static std::optional<Choices> apply(const Evaluator &evaluator, const Move &move,
                                    const Choices &choices) {
  Choices result = choices;
  bool changes = false;
  auto set = [&](int value) {
    changes |= result[value] != move.choice;
    result[value] = move.choice;
  };
  if (move.value >= 0)
    set(move.value);
  else
    for (int value : evaluator.space.movable)
      if (evaluator.space.unitOf(value) == move.unit && evaluator.allows(value, move.choice))
        set(value);
  if (!changes)
    return std::nullopt;
  return result;
}

/// Bytes beyond the budget that go, per second; a byte of a PREFER counts as much as all seconds.
static double scoreOf(const Plan &from, const Plan &to, double totalSeconds) {
  double gone = from.usage.excess - to.usage.excess;
  if (gone <= 0)
    return gone;
  double seconds = to.usage.seconds - from.usage.seconds;
  seconds += totalSeconds * static_cast<double>(to.overridden - from.overridden);
  return gone / std::max(seconds, totalSeconds * 1e-9);
}

Plan reprise::checkpoint::repair(Evaluator &evaluator, Plan plan) {
  if (plan.usage.peak <= evaluator.budget())
    return plan;
  double total = evaluator.space.totalSeconds;
  std::priority_queue<Move> queue;
  plan = evaluator.evaluate(std::move(plan.choices)); // for its profile
  for (Move &move : listMoves(evaluator)) {
    if (!evaluator.mayGoOn())
      break;
    if (std::optional<Choices> choices = apply(evaluator, move, plan.choices)) {
      move.score = scoreOf(plan, evaluator.evaluate(std::move(*choices)), total);
      move.round = 0;
      queue.push(move);
    }
  }
  for (int round = 0;
       plan.usage.peak > evaluator.budget() && !queue.empty() && evaluator.mayGoOn();) {
    Move move = queue.top();
    queue.pop();
    std::optional<Choices> choices = apply(evaluator, move, plan.choices);
    if (!choices)
      continue;
    Plan next = evaluator.evaluate(std::move(*choices));
    move.score = scoreOf(plan, next, total);
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

/// Lists the replayed values that may be saved, those with the most seconds per byte first.
static std::vector<int> listReplayed(const Evaluator &evaluator, const Choices &choices) {
  std::vector<int> replayed;
  for (int value : evaluator.space.movable)
    if (choices[value] != Choice::Save && evaluator.allows(value, Choice::Save))
      replayed.push_back(value);
  std::sort(replayed.begin(), replayed.end(), [&](int a, int b) {
    double first = evaluator.space.densityOf(a), second = evaluator.space.densityOf(b);
    return first == second ? a < b : first > second;
  });
  return replayed;
}

Plan reprise::checkpoint::saveWhatFits(Evaluator &evaluator, Plan plan) {
  for (int value : listReplayed(evaluator, plan.choices)) {
    if (!evaluator.mayGoOn())
      break;
    for (Choice choice : {Choice::Save, Choice::Replay}) {
      if (choice == plan.choices[value])
        continue;
      Choices choices = plan.choices;
      choices[value] = choice;
      Plan next = evaluator.evaluate(std::move(choices));
      if (evaluator.isBetter(next, plan)) {
        plan = std::move(next);
        break;
      }
    }
  }
  return plan;
}

/// Finds the value to replay among those that are kept at the plan's peak: the cheapest whose bytes
/// cover the missing bytes. If no value does, returns the cheapest per byte; -1 if none is kept.
static int findVictim(const Evaluator &evaluator, const Plan &plan, int spared) {
  const SearchSpace &space = evaluator.space;
  int best = -1, launch = plan.usage.peakLaunch;
  int64_t excess = plan.usage.peak - evaluator.budget();
  auto rank = [&](int value) {
    bool covers = space.problem.values[value].bytes >= excess;
    return std::make_pair(!covers, covers ? space.secondsOf(value) : space.densityOf(value));
  };
  for (int value : space.movable)
    if (value != spared && plan.choices[value] == Choice::Save &&
        space.problem.values[value].bytes > 0 && evaluator.allows(value, Choice::Replay) &&
        isKeptIn(space.ranges[value], launch, launch) && (best < 0 || rank(value) < rank(best)))
      best = value;
  return best;
}

Plan reprise::checkpoint::exchange(Evaluator &evaluator, Plan plan) {
  static constexpr int kMostVictims = 4;
  for (int value : listReplayed(evaluator, plan.choices)) {
    if (!evaluator.mayGoOn())
      break;
    Choices choices = plan.choices;
    choices[value] = Choice::Save;
    Plan next = evaluator.evaluate(std::move(choices));
    for (int i = 0; i < kMostVictims && next.usage.peak > evaluator.budget() && evaluator.mayGoOn();
         ++i) {
      int victim = findVictim(evaluator, next, value);
      if (victim < 0)
        break;
      choices = std::move(next.choices);
      choices[victim] = Choice::Replay;
      next = evaluator.evaluate(std::move(choices));
    }
    if (evaluator.isBetter(next, plan))
      plan = std::move(next);
  }
  return plan;
}
