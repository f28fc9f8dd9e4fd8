// reprise: distance of a planner from the optimum, for tests
#ifndef REPRISE_TEST_PLANNING_DISTANCES_H
#define REPRISE_TEST_PLANNING_DISTANCES_H

#include <algorithm>
#include <cstdio>

namespace reprise::test {

/// Distances over many problems, in percent of the cost without replays.
struct Distances {
  int solved = 0, refuted = 0; ///< by the oracle; refuted problems are solved problems, too
  int open = 0;                ///< problems that are not solved
  int optimal = 0, missed = 0; ///< counts of the planner
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
