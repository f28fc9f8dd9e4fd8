// reprise: plans of ever smaller peaks
#include "Search.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Steps are large first, because the end of a search depends on its budget: if the budget is far
/// below the reachable peaks, the search finds fewer of the plans near them.
void reprise::checkpoint::stepDown(int64_t peak, const std::function<int64_t(int64_t)> &search) {
  static constexpr int kMostSteps = 12;
  int left = kMostSteps;
  for (int64_t part : {4, 16, 64})
    for (bool isLower = true; isLower && left-- > 0;) {
      int64_t reached = search(peak - std::max<int64_t>(1, peak / part));
      isLower = reached < peak;
      peak = reached;
    }
}

namespace {
class Descender {
public:
  explicit Descender(Evaluator &evaluator, bool mayOverride)
      : evaluator(evaluator), mayOverride(mayOverride), descent{{evaluator.followed()}} {}

  Descent run();

private:
  int64_t peak() const { return evaluator.smallest().usage.peak; }
  bool isNearNeed() const;
  void aim(int64_t budget) { evaluator.setBudget(budget, mayOverride); }
  void tryAll();
  bool attempt(int64_t budget);
  void keep();

  Evaluator &evaluator;
  bool mayOverride;
  int64_t need = 1; // bytes that every plan takes
  std::vector<Plan> starts;
  Descent descent;
};
} // namespace

bool Descender::isNearNeed() const {
  static constexpr int64_t kNear = 1000; // parts of the peak
  return peak() - need < evaluator.findPart(kNear);
}

void Descender::keep() {
  if (peak() < descent.plans.back().usage.peak)
    descent.plans.push_back(evaluator.smallest());
}

/// All choices, for one byte less than the last plan that was found.
void Descender::tryAll() {
  Plan best = evaluator.smallest();
  for (bool isLower = true; isLower && best.usage.peak > need && !evaluator.isOver();) {
    aim(best.usage.peak - 1);
    evaluator.allow(INT64_MAX);
    best = solveExactly(evaluator, evaluator.evaluate(best.choices));
    isLower = best.usage.peak <= evaluator.budget();
    keep();
  }
}

/// Repairs a few starts and returns true if one reaches the budget.
bool Descender::attempt(int64_t budget) {
  static constexpr int kMostStarts = 3;
  int64_t evaluations = evaluator.options().evaluations;
  aim(budget);
  evaluator.allow(evaluations);
  starts = findStarts(evaluator, descent.plans);
  int left = kMostStarts;
  for (size_t i : chooseStarts(evaluator, starts)) {
    if (peak() <= budget || left-- == 0 || evaluator.isOver())
      break;
    evaluator.allow(evaluations / 5);
    repair(evaluator, starts[i]);
  }
  keep();
  return peak() <= budget;
}

Descent Descender::run() {
  Bound bound = findBound(evaluator.space.problem, evaluator.space.footprint, 1, 4,
                          [this] { return evaluator.isLate(); });
  need = bound.isFeasible ? 1 : 1 + bound.missing;
  if (!isNearNeed())
    attempt(need);
  if (!evaluator.space.movable.empty() && isSmall(evaluator))
    tryAll();
  for (int64_t part : {8, 32})
    while (!isNearNeed() && !evaluator.isOver() &&
           attempt(std::max(need, peak() - evaluator.findPart(part))))
      continue;
  if (!isNearNeed() && !evaluator.isOver()) {
    lowerPeak(evaluator, mayOverride, starts);
    keep();
  }
  descent.isTruncated = evaluator.isTruncated();
  return std::move(descent);
}

Descent reprise::checkpoint::descend(const Problem &problem, const Footprint &footprint,
                                     BudgetOptions options, bool mayOverride) {
  Evaluator evaluator(problem, footprint, std::move(options));
  return Descender(evaluator, mayOverride).run();
}
