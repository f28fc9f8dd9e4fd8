// reprise: plans within a budget: all choices of small problems
#include "Search.h"

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Value = Problem::Value;

static constexpr int64_t kTries = 4; // times the evaluations of a search, for all choices

/// A view has no bytes, so that it does not count against a PREFER either.
static std::vector<Choice> listAllowed(const Evaluator &evaluator, int value) {
  const Value &entry = evaluator.space.problem.values[value];
  bool isPreferred = entry.label == Label::PreferSave || entry.label == Label::PreferRecompute;
  bool isFree = isPreferred && evaluator.space.footprint.launches[entry.operation] == kNoLaunch;
  std::vector<Choice> allowed;
  for (Choice choice :
       {Choice::Save, Choice::Replay, Choice::ReplayPerUnit, Choice::SaveThenReplay}) {
    bool isMoot = choice == Choice::SaveThenReplay && !evaluator.space.mayBeSplit[value];
    if (!isMoot && (isFree || evaluator.allows(value, choice)))
      allowed.push_back(choice);
  }
  return allowed;
}

static bool mayTryAll(const Evaluator &evaluator, const std::vector<int> &values) {
  int64_t plans = 1;
  for (int value : values) {
    plans *= static_cast<int64_t>(listAllowed(evaluator, value).size());
    if (plans > kTries * evaluator.options().evaluations)
      return false;
  }
  return true;
}

bool reprise::checkpoint::isSmall(const Evaluator &evaluator) {
  return mayTryAll(evaluator, evaluator.space.movable);
}

namespace {
class ExactSearch {
public:
  ExactSearch(Evaluator &evaluator, std::vector<int> values, Plan &best)
      : evaluator(evaluator), space(evaluator.space), values(std::move(values)), best(best),
        choices(best.choices) {}

  /// Tries what is left to choose, from the value at `next`. `seconds` are those that the choices
  /// made before cannot do without: what the backward pass reads and is not saved runs again at
  /// least once.
  void run(size_t next = 0, double seconds = 0);

private:
  Evaluator &evaluator;
  const SearchSpace &space;
  std::vector<int> values;
  Plan &best;
  Choices choices;
};
} // namespace

void ExactSearch::run(size_t next, double seconds) {
  bool fits = best.usage.peak <= evaluator.budget();
  bool cannotWin = fits && best.overridden == 0 && seconds >= best.usage.seconds;
  if (cannotWin || !evaluator.mayGoOn())
    return;
  if (next == values.size()) {
    if (Plan plan = evaluator.evaluate(choices); evaluator.isBetter(plan, best))
      best = std::move(plan);
    return;
  }
  int value = values[next], operation = space.problem.values[value].operation;
  // Not if another result of the operation, or a view that is saved, may speak for it.
  bool counts = space.problem.operations[operation].numResults == 1 && !space.isViewed[value] &&
                space.ranges[value].lastBackward >= 0;
  for (Choice choice : listAllowed(evaluator, value)) {
    choices[value] = choice;
    bool runsAgain = counts && choice != Choice::Save;
    run(next + 1, seconds + (runsAgain ? space.footprint.seconds[operation] : 0));
  }
}

/// A view that is saved keeps a buffer for its own readers, while others read replays.
Plan reprise::checkpoint::solveExactly(Evaluator &evaluator, Plan plan) {
  std::vector<int> values = evaluator.space.movable;
  values.insert(values.end(), evaluator.space.views.begin(), evaluator.space.views.end());
  if (!mayTryAll(evaluator, values))
    values = evaluator.space.movable;
  evaluator.allow(kTries * evaluator.options().evaluations);
  if (plan.overridden > 0 || !evaluator.isNearBound(plan, 0))
    ExactSearch(evaluator, std::move(values), plan).run();
  return plan;
}
