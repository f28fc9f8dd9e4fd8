// reprise: what a solution takes, found again from its executions alone
#ifndef REPRISE_PLANNING_CHECKPOINT_PROBLEM_RECOUNT_H
#define REPRISE_PLANNING_CHECKPOINT_PROBLEM_RECOUNT_H

#include "reprise/Planning/Checkpoint/Problem/Footprint.h"
#include "reprise/Planning/Checkpoint/Problem/Solution.h"

namespace reprise::checkpoint {

struct Recount {
  int64_t peak = 0; // bytes
  double cost = 0;  // seconds that the choices add to the step
};

/// Judges a plan that was made with Meter, with which it shares nothing but Footprint.h's
/// definitions. The solution must be valid. O(executions and their operands · log).
Recount recount(const Problem &problem, const Footprint &footprint, const Solution &solution);

} // namespace reprise::checkpoint

#endif // REPRISE_PLANNING_CHECKPOINT_PROBLEM_RECOUNT_H
