// reprise: plans of one problem, measured, judged and compared
#include "Evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace reprise::checkpoint;
using Label = Problem::Label;

Evaluator::Evaluator(const Problem &problem, const Footprint &footprint, BudgetOptions options)
    : space(problem, footprint), given(std::move(options)), meter(problem, footprint) {
  // One takes some 8 to 20 ns for each operation, more with many replays.
  auto size = static_cast<double>(problem.operations.size() + 1);
  if (given.evaluations == 0)
    given.evaluations = static_cast<int64_t>(
        given.effort *
        std::clamp(24e6 / size * std::min(1.0, std::sqrt(4000 / size)), 60.0, 20'000.0));
  labelled.choices = chooseByLabels(problem, /*recomputeAll=*/false);
  labelled = least = evaluate(labelled.choices);
}

void Evaluator::setBudget(int64_t budget, bool mayOverridePrefers) {
  bytes = budget;
  mayOverride = mayOverridePrefers;
}

bool Evaluator::isLate() {
  bool isNow = given.isLate && given.isLate();
  isCut |= isNow;
  return isNow;
}

bool Evaluator::allows(int value, Choice choice) const {
  switch (space.problem.values[value].label) {
  case Label::None:
    return true;
  case Label::MustSave:
    return choice == Choice::Save;
  case Label::MustRecompute:
    return !keepsOriginal(choice);
  case Label::PreferSave:
    return mayOverride || choice == Choice::Save;
  case Label::PreferRecompute:
    return mayOverride || !keepsOriginal(choice) || labelled.choices[value] == Choice::Save;
  case Label::MustOffload:
  case Label::PreferOffload:
    break; // no problem has these labels: the offload op is an operation of its own
  }
  return false;
}

void Evaluator::obey(Choices &choices) const {
  for (size_t value = 0; value < choices.size(); ++value)
    if (!allows(static_cast<int>(value), choices[value]))
      choices[value] =
          allows(static_cast<int>(value), Choice::Save) ? Choice::Save : Choice::ReplayPerUnit;
}

/// Bytes of values whose choices go against a PREFER that `labelled` follows.
static int64_t countOverridden(const SearchSpace &space, const Choices &labelled,
                               const Choices &choices) {
  int64_t overridden = 0;
  for (int value : space.movable) {
    Label label = space.problem.values[value].label;
    bool wasSaved = labelled[value] == Choice::Save;
    if ((label == Label::PreferSave && choices[value] != Choice::Save) ||
        (label == Label::PreferRecompute && keepsOriginal(choices[value]) && !wasSaved))
      overridden += space.problem.values[value].bytes;
  }
  return overridden;
}

Plan Evaluator::evaluate(Choices choices) {
  Plan plan;
  plan.usage = meter.measure(choices, bytes);
  // Many replays take as long as several schedules.
  auto size = static_cast<int64_t>(space.problem.operations.size());
  left -= std::max<int64_t>(1, plan.usage.executions / size);
  plan.overridden = countOverridden(space, labelled.choices, choices);
  plan.choices = std::move(choices);
  if (plan.usage.peak < least.usage.peak)
    least = plan;
  return plan;
}

const std::vector<int64_t> &Evaluator::profileOf(const Choices &choices) {
  meter.measure(choices, bytes);
  return meter.profile();
}

bool Evaluator::isBetter(const Plan &a, const Plan &b) const {
  bool aFits = a.usage.peak <= bytes, bFits = b.usage.peak <= bytes;
  if (aFits != bFits)
    return aFits;
  if (!aFits)
    return a.usage.excess < b.usage.excess;
  if (a.overridden != b.overridden)
    return a.overridden < b.overridden;
  return a.usage.seconds < b.usage.seconds;
}

bool Evaluator::isNearBound(const Plan &plan, double part) const {
  return plan.usage.peak <= bytes && plan.usage.seconds <= bound + part * space.totalSeconds;
}

void reprise::checkpoint::sortPlans(const Evaluator &evaluator, std::vector<Plan> &plans) {
  std::vector<size_t> order(plans.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    bool aBetter = evaluator.isBetter(plans[a], plans[b]);
    bool bBetter = evaluator.isBetter(plans[b], plans[a]);
    return aBetter == bBetter ? a < b : aBetter;
  });
  std::vector<Plan> sorted;
  for (size_t index : order)
    sorted.push_back(std::move(plans[index]));
  plans = std::move(sorted);
}
