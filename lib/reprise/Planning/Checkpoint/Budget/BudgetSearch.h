// reprise: the search for the cheapest plan within a budget
#ifndef REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_BUDGETSEARCH_H
#define REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_BUDGETSEARCH_H

#include "../Bound/Pricer.h"
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"
#include "reprise/Support/SplitMix.h"

namespace reprise::checkpoint {

class ChainView;

class BudgetSearch {
public:
  BudgetSearch(const Problem &problem, const Footprint &footprint, BudgetOptions options);

  std::optional<Plan> plan(int64_t budget);
  bool isOpen() const;

  Plan followed, smallest;
  bool isTruncated = false;

private:
  static constexpr size_t kMostUnfit = 4; // starts that do not fit

  static constexpr int64_t kTries = 4; // times the evaluations of a search, for all choices

  using Choices = std::vector<Choice>;
  /// A change of one value's choice, or of all values of a unit that may be recomputed.
  struct Move {
    int value = -1, unit = -1;
    Choice choice = Choice::Save;
    double score = 0;
    int round = -1; // in which the score was found
    bool operator<(const Move &other) const { return score < other.score; }
  };

  void findMovable();

  // Starts.
  Choices chooseByLabels(bool recomputeAll) const;
  std::vector<Choices> thinnedUnits() const;
  std::vector<Plan> findStarts(int64_t budget);
  std::vector<Plan> followPrices(int64_t budget);
  std::vector<Choices> listWays(const ChainView &view);
  std::vector<Plan> followChain(int64_t budget);
  std::vector<size_t> chooseStarts(const std::vector<Plan> &sorted, int64_t budget) const;
  std::optional<Plan> blendStarts(const std::vector<Plan> &starts, int64_t budget);
  std::optional<Plan> search(int64_t budget);
  void sortPlans(std::vector<Plan> &plans, int64_t budget) const;

  // What is allowed, and what it comes to.
  bool allows(int value, Choice choice) const;
  void obey(Choices &choices) const;
  int64_t countOverridden(const Choices &choices) const;
  Plan evaluate(Choices choices, int64_t budget);
  bool isBetter(const Plan &a, const Plan &b, int64_t budget) const;
  bool isNearBound(const Plan &plan, int64_t budget, double part) const;
  bool mayGoOn();

  // Ways from plan to plan.
  std::vector<Move> listMoves(int64_t budget) const;
  std::vector<int> listReplayed(const Choices &choices) const;
  bool isKeptIn(int value, int first, int last) const;
  int findVictim(const Choices &choices, int launch, int64_t excess, int spared) const;
  std::optional<Choices> apply(const Move &move, const Choices &choices) const;
  double scoreOf(const Plan &from, const Plan &to) const;
  double densityOf(int value) const;
  Plan repair(Plan plan, int64_t budget);
  void blend(const Plan &fitting, const Plan &cheaper, int64_t budget, std::vector<Plan> &plans);
  Plan saveWhatFits(Plan plan, int64_t budget);
  Plan exchange(Plan plan, int64_t budget);

  // All choices.
  std::vector<Choice> listAllowed(int value) const;
  bool isSmall(const std::vector<int> &values) const;
  void tryAll(const std::vector<int> &values, size_t next, double seconds, Choices &choices,
              int64_t budget, Plan &best);
  Plan findExact(Plan plan, int64_t budget);

  // Annealing.
  void findAlike();
  void changeValues(Choices &choices);
  void copyUnit(Choices &choices, const Choices &from);
  Plan cool(const Plan &start, const std::vector<Plan> &others, double price, int64_t budget);
  Plan anneal(Plan plan, const Plan &second, const std::vector<Plan> &others, int64_t budget);

  const Problem &problem;
  const Footprint &footprint;
  BudgetOptions options;
  Meter meter;
  std::vector<LiveRange> ranges;              // per value
  std::vector<bool> isViewed;                 // per value
  std::vector<int> units;                     // per operation: its outermost container
  std::vector<int> movable;                   // values that choices matter for
  std::vector<int> views;                     // movable, but for free
  std::vector<std::vector<int>> valuesOfUnit; // movable ones, of units that have any
  std::vector<std::vector<int>> alike;        // for each of these: those that are like it
  SplitMix random{0};
  bool mayOverride = false;
  int64_t left = 0;        // evaluations
  double totalSeconds = 0; // of one replay of everything
  double bound = 0;        // of the seconds within the budget at hand
  std::vector<Plan> pool;  // plans that are good for some budget, by peak
};

} // namespace reprise::checkpoint

#endif // REPRISE_LIB_PLANNING_CHECKPOINT_BUDGET_BUDGETSEARCH_H
