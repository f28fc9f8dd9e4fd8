// reprise: moves of annealing: other choices near those at hand
#include "ChoiceMoves.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Another choice of a value, or of two that are often near each other.
void ChoiceMoves::changeValues(Choices &choices) {
  static constexpr int kNear = 6;
  int size = static_cast<int>(space.movable.size()), at = random.below(size);
  for (int i = 0, number = 1 + (random.below(10) < 4); i < number; ++i) {
    int value = space.movable[at];
    auto choice = static_cast<Choice>(random.below(numChoices));
    bool isMoot = choice == Choice::SaveThenReplay && !space.mayBeSplit[value];
    if (choice == choices[value] || isMoot)
      choice = choice == Choice::Save ? Choice::Replay : Choice::Save;
    if (evaluator.allows(value, choice))
      choices[value] = choice;
    int step = 1 + random.below(kNear);
    at = random.below(10) < 4 ? random.below(size)
                              : std::clamp(random.below(2) ? at + step : at - step, 0, size - 1);
  }
}

/// The choices that a plan has for a unit like it.
void ChoiceMoves::copyUnit(Choices &choices, const Choices &from) {
  int to = random.below(static_cast<int>(space.valuesOfUnit.size()));
  int like = space.alike[to][random.below(static_cast<int>(space.alike[to].size()))];
  for (size_t i = 0; i < space.valuesOfUnit[to].size(); ++i) {
    int value = space.valuesOfUnit[to][i];
    if (Choice choice = from[space.valuesOfUnit[like][i]]; evaluator.allows(value, choice))
      choices[value] = choice;
  }
}

Choices ChoiceMoves::change(const Choices &choices, const std::vector<Plan> &others,
                            const Plan &best) {
  static constexpr int kCopiesPercent = 15;
  Choices changed = choices;
  if (random.below(100) >= kCopiesPercent)
    changeValues(changed);
  else
    copyUnit(changed, random.below(3)
                          ? others[random.below(static_cast<int>(others.size()))].choices
                          : best.choices);
  return changed;
}
