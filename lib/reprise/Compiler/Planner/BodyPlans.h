// reprise: plans of the bodies of a step's loops
#ifndef REPRISE_COMPILER_BODYPLANS_H
#define REPRISE_COMPILER_BODYPLANS_H

#include "StepFootprint.h"

namespace reprise {

/// Choices for each scope of `findBodyScopes`, one per value.
using BodyPlan = std::vector<std::vector<checkpoint::Choice>>;

/// Plans that keep fewer and fewer bytes of stacks for the backward bodies, at the least seconds of
/// replays each; the last one, which is empty, keeps only what labels want saved. They depend on
/// the step alone, not on a budget. None without loops that keep something.
std::vector<BodyPlan> findBodyPlans(mlir::func::FuncOp step, LaunchFacts &facts,
                                    const CostModel &costs);

} // namespace reprise

#endif // REPRISE_COMPILER_BODYPLANS_H
