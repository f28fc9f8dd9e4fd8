// reprise: how far from the optimum a planner is, for tests
#ifndef REPRISE_TEST_PLANNING_DISTANCES_H
#define REPRISE_TEST_PLANNING_DISTANCES_H

#include <algorithm>
#include <cstdio>

namespace reprise::test {

/// Of many problems, in percent of the cost without replays.
struct Distances {
  int solved = 0, refuted = 0; ///< by the oracle; the refuted ones are solved, too
  int open = 0;                ///< not solved
  int optimal = 0, missed = 0; ///< by the planner
  double worst = 0, sum = 0, worstBound = 0, sumBound = 0;

  int feasible() const { return solved - refuted; }
  void add(double above) {
    optimal += above == 0;
    worst = std::max(worst, above);
    sum += above;
  }
  void addBound(double below) {
    worstBound = std::max(worstBound, below);
    sumBound += below;
  }
  void print(const char *name) const {
    std::printf("%s: %d solved, %d of them refuted, %d open; %d of %d are optimal, %d are missed; "
                "above the optimum %.2f at most, %.3f in the mean; the bound below it %.2f, %.3f\n",
                name, solved, refuted, open, optimal, feasible(), missed, worst, sum / feasible(),
                worstBound, sumBound / feasible());
  }
};

} // namespace reprise::test

#endif // REPRISE_TEST_PLANNING_DISTANCES_H
