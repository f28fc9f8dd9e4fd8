// reprise: plans of ever smaller peaks
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Where a search ends depends on its budget: one that is far below what can be reached sees less
/// of what is near. So steps are large first.
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

Descent reprise::checkpoint::descend(const Problem &problem, const Footprint &footprint,
                                     BudgetOptions options) {
  static constexpr double kEffort = 0.25;
  static constexpr int64_t kNear = 1000; // parts of the peak
  options.effort *= kEffort;
  BudgetPlanner planner(problem, footprint, std::move(options));
  Bound bound = findBound(problem, footprint, 1);
  int64_t need = bound.isFeasible ? 1 : 1 + bound.missing;
  Descent descent{{planner.followed()}};
  auto search = [&](int64_t budget) {
    int64_t peak = planner.smallest().usage.peak;
    if (peak - need <= peak / kNear)
      return peak;
    planner.plan(budget);
    if (planner.smallest().usage.peak < peak)
      descent.plans.push_back(planner.smallest());
    return planner.smallest().usage.peak;
  };
  stepDown(planner.smallest().usage.peak, search);
  search(need);
  search(need + (planner.smallest().usage.peak - need) / 2);
  descent.isTruncated = planner.isTruncated();
  return descent;
}
