// reprise: plans of the bodies of a step's loops
#ifndef REPRISE_COMPILER_BODYPLANS_H
#define REPRISE_COMPILER_BODYPLANS_H

#include "StepFootprint.h"

namespace reprise {

/// Choices for each scope of `findBodyScopes`, one per value.
using BodyPlan = std::vector<std::vector<checkpoint::Choice>>;

/// Finds plans of the bodies, each of which keeps fewer bytes of stacks for the backward bodies
/// than the plan before, at the fewest seconds of replays. The last plan is empty and keeps only
/// values with a save label. The plans depend on the step alone, not on a budget. A step whose
/// loops keep nothing has no plans.
std::vector<BodyPlan> findBodyPlans(ProgramOp step, LaunchFacts &facts, const CostModel &costs);

} // namespace reprise

#endif // REPRISE_COMPILER_BODYPLANS_H
