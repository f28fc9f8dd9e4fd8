// reprise: plans of ever smaller peaks
#include "reprise/Planning/Checkpoint/Budget/BudgetPlanner.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Where a search ends depends on its budget: one that is far below what can be reached sees less
/// of what is near. So steps are large first. They end near what every plan needs.
Descent reprise::checkpoint::descend(const Problem &problem, const Footprint &footprint,
                                     BudgetOptions options) {
  static constexpr double kEffort = 0.25;
  static constexpr int kMostSteps = 12;
  static constexpr int64_t kNear = 1000; // parts of the peak
  options.effort *= kEffort;
  BudgetPlanner planner(problem, footprint, std::move(options));
  Bound bound = findBound(problem, footprint, 1);
  int64_t need = bound.isFeasible ? 1 : 1 + bound.missing;
  Descent descent{{planner.followed()}};
  auto search = [&](int64_t budget) {
    int64_t peak = planner.smallest().usage.peak;
    if (peak - need <= peak / kNear)
      return false;
    planner.plan(budget);
    bool isLower = planner.smallest().usage.peak < peak;
    if (isLower)
      descent.plans.push_back(planner.smallest());
    return isLower;
  };
  int left = kMostSteps;
  for (int64_t part : {4, 16, 64})
    for (bool isLower = true; isLower && left-- > 0;) {
      int64_t peak = planner.smallest().usage.peak;
      isLower = search(peak - std::max<int64_t>(1, peak / part));
    }
  search(need);
  search(need + (planner.smallest().usage.peak - need) / 2);
  descent.isTruncated = planner.isTruncated();
  return descent;
}
