// reprise: one label for all values that show the same memory
#include "reprise/Planning/Checkpoint/Problem/JoinLabels.h"

#include <algorithm>
#include <tuple>

using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

static bool isMust(Label label) {
  return label == Label::MustSave || label == Label::MustRecompute;
}

namespace {
class Joiner {
public:
  Joiner(Problem &problem, const std::vector<bool> &shows, std::vector<TakenLabel> *taken)
      : problem(problem), shows(shows), taken(taken) {}

  std::optional<LabelClash> run();

private:
  /// The value that the operation shows in its own body; kAvailable if there is none.
  int findShown(size_t operation) const;
  void raise(const Operation &op, int shown);
  void lower(const Operation &op, int shown);
  void take(int value, int from);
  void refuse(int value, int other) {
    if (!clash)
      clash = {std::max(value, other), std::min(value, other)};
  }

  Problem &problem;
  const std::vector<bool> &shows;
  std::vector<TakenLabel> *taken;
  std::optional<LabelClash> clash;
};
} // namespace

int Joiner::findShown(size_t operation) const {
  const Operation &op = problem.operations[operation];
  if (!shows[operation] || !op.primal || op.numResults != 1 || op.operands.empty() ||
      op.operands[0] == kAvailable)
    return kAvailable;
  const Operation &definition = problem.operations[problem.values[op.operands[0]].operation];
  return definition.primal && definition.body == op.body ? op.operands[0] : kAvailable;
}

void Joiner::take(int value, int from) {
  problem.values[value].label = problem.values[from].label;
  if (taken)
    taken->push_back({value, from});
}

/// Hands the MUST of a view to what it shows.
void Joiner::raise(const Operation &op, int shown) {
  const Value &view = problem.values[op.firstResult], &memory = problem.values[shown];
  if (op.kind != Kind::View || op.order != 0 || !isMust(view.label) || view.bytes > memory.bytes ||
      view.label == memory.label || (op.remade && view.label == Label::MustSave))
    return;
  if (isMust(memory.label))
    return refuse(op.firstResult, shown);
  take(shown, op.firstResult);
}

/// Hands the wish to recompute memory to what shows it.
void Joiner::lower(const Operation &op, int shown) {
  const Value &view = problem.values[op.firstResult], &memory = problem.values[shown];
  bool isPreferred = memory.label == Label::PreferRecompute && view.label == Label::None &&
                     op.kind == Kind::View &&
                     op.container == problem.operations[problem.values[shown].operation].container;
  if (isPreferred)
    return take(op.firstResult, shown);
  bool isCopy = op.remade && view.label == Label::MustSave;
  if (memory.label != Label::MustRecompute || view.label == Label::MustRecompute || isCopy)
    return;
  if (view.label == Label::MustSave && op.order == 0)
    return refuse(op.firstResult, shown);
  take(op.firstResult, shown);
}

std::optional<LabelClash> Joiner::run() {
  size_t count = problem.operations.size();
  for (size_t i = count; i-- > 0;)
    if (int shown = findShown(i); shown != kAvailable)
      raise(problem.operations[i], shown);
  for (size_t i = 0; i < count; ++i)
    if (int shown = findShown(i); shown != kAvailable)
      lower(problem.operations[i], shown);
  return clash;
}

std::optional<LabelClash> reprise::checkpoint::joinLabels(Problem &problem,
                                                          const std::vector<bool> &shows,
                                                          std::vector<TakenLabel> *taken) {
  return Joiner(problem, shows, taken).run();
}

std::vector<bool> reprise::checkpoint::findViews(const Problem &problem) {
  std::vector<bool> views;
  for (const Operation &op : problem.operations)
    views.push_back(op.kind == Kind::View);
  return views;
}

/// Decides on a value that is held through a view, whose reason is `seen`.
static std::pair<Decision, Reason> decideHeld(Label label, Reason seen) {
  if (label == Label::PreferSave || label == Label::MustSave)
    return {Decision::Saved, Reason::Label};
  if (seen == Reason::Outlives)
    return {Decision::Kept, seen};
  if (label == Label::None)
    return {Decision::Saved, Reason::Fastest};
  bool isExcuse = seen == Reason::BlockInput || seen == Reason::LastUnit || seen == Reason::Budget;
  return {Decision::Kept, isExcuse ? seen : Reason::BlockInput};
}

void reprise::checkpoint::decideForMemory(const Problem &problem, Solution &solution) {
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const Operation &op = problem.operations[i];
    if (op.kind != Kind::View || op.remade || !op.primal || op.operands.empty() ||
        op.operands[0] == kAvailable)
      continue;
    Decision decision = solution.decisions[op.firstResult];
    int shown = op.operands[0];
    const Operation &definition = problem.operations[problem.values[shown].operation];
    bool isHeld = decision == Decision::Saved || decision == Decision::Kept;
    if (!isHeld || !definition.primal || definition.body != op.body ||
        solution.decisions[shown] != Decision::NotNeeded)
      continue;
    std::tie(solution.decisions[shown], solution.reasons[shown]) =
        decideHeld(problem.values[shown].label, solution.reasons[op.firstResult]);
  }
}
