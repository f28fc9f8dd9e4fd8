// reprise: moves of annealing: other choices near those at hand
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHOICEMOVES_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHOICEMOVES_H

#include "Evaluator.h"
#include "reprise/Support/SplitMix.h"

namespace reprise::checkpoint {

/// Changes the choices of one value or of two, or takes over those that another plan, or another
/// unit of the same shape, has for a unit. Only allowed choices are made.
class ChoiceMoves {
public:
  /// Uses the first `numChoices` choices.
  ChoiceMoves(const Evaluator &evaluator, int numChoices, SplitMix &random)
      : evaluator(evaluator), space(evaluator.space), numChoices(numChoices), random(random) {}

  /// There must be movable values, and other plans.
  Choices change(const Choices &choices, const std::vector<Plan> &others, const Plan &best);

private:
  void changeValues(Choices &choices);
  void copyUnit(Choices &choices, const Choices &from);

  const Evaluator &evaluator;
  const SearchSpace &space;
  int numChoices;
  SplitMix &random;
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_CHOICEMOVES_H
