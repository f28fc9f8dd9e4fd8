// reprise: the cheapest plan within a budget: all choices of small problems
#include "BudgetSearch.h"

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Value = Problem::Value;
using Search = BudgetSearch;

/// A view has no bytes, so that it does not count against a PREFER either.
std::vector<Choice> Search::listAllowed(int value) const {
  const Value &entry = problem.values[value];
  bool isPreferred = entry.label == Label::PreferSave || entry.label == Label::PreferRecompute;
  bool isFree = isPreferred && footprint.launches[entry.operation] == kNoLaunch;
  std::vector<Choice> allowed;
  for (Choice choice : {Choice::Save, Choice::Replay, Choice::ReplayPerUnit})
    if (isFree || allows(value, choice))
      allowed.push_back(choice);
  return allowed;
}

/// Whether all choices may be tried: those of ten values, mostly.
bool Search::isSmall(const std::vector<int> &values) const {
  int64_t plans = 1;
  for (int value : values) {
    plans *= static_cast<int64_t>(listAllowed(value).size());
    if (plans > kTries * options.evaluations)
      return false;
  }
  return true;
}

/// The cheapest plan, which may be the given one, of a problem whose movable values are few. A view
/// that is saved keeps a buffer for its own readers, while others read replays.
Plan Search::findExact(Plan plan, int64_t budget) {
  std::vector<int> values = movable;
  values.insert(values.end(), views.begin(), views.end());
  if (!isSmall(values))
    values = movable;
  left = kTries * options.evaluations;
  Choices choices = plan.choices;
  if (plan.overridden > 0 || !isNearBound(plan, budget, 0))
    tryAll(values, 0, 0, choices, budget, plan);
  return plan;
}

/// Tries what is left to choose. `seconds` are those that the choices made before cannot do
/// without: what the backward pass reads and is not saved runs again at least once.
void Search::tryAll(const std::vector<int> &values, size_t next, double seconds, Choices &choices,
                    int64_t budget, Plan &best) {
  bool fits = best.usage.peak <= budget;
  bool cannotWin = fits && best.overridden == 0 && seconds >= best.usage.seconds;
  if (cannotWin || !mayGoOn())
    return;
  if (next == values.size()) {
    if (Plan plan = evaluate(choices, budget); isBetter(plan, best, budget))
      best = std::move(plan);
    return;
  }
  int value = values[next], operation = problem.values[value].operation;
  // Not if another result of the operation, or a view that is saved, may speak for it.
  bool counts = problem.operations[operation].numResults == 1 && !isViewed[value] &&
                ranges[value].lastBackward >= 0;
  for (Choice choice : listAllowed(value)) {
    choices[value] = choice;
    bool runsAgain = counts && choice != Choice::Save;
    tryAll(values, next + 1, seconds + (runsAgain ? footprint.seconds[operation] : 0), choices,
           budget, best);
  }
}
