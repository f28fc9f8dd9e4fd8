// reprise: what a step costs its planner: launches, bytes beside the plan, seconds of replays
#ifndef REPRISE_COMPILER_STEPFOOTPRINT_H
#define REPRISE_COMPILER_STEPFOOTPRINT_H

#include "reprise/Costs/CostModel.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise {

class LaunchFacts;

/// Describes the step around `scope` as the launches of the target run it. A replay costs its
/// arithmetic and the bytes that it reads from outside of the scope; launches and traffic have the
/// seconds of the cost model. Fills in `links`, if not null, for other orders of the launches.
/// Fails at an op that no kernel can hold.
mlir::FailureOr<checkpoint::Footprint> findFootprint(const PlanningScope &scope, ProgramOp step,
                                                     LaunchFacts &facts, const CostModel &costs,
                                                     checkpoint::LaunchLinks *links = nullptr);

/// Describes a scope of bodies. Each body is one launch, with an even number, and only the stacks
/// that a body keeps for another body are live in the odd launches between. Seconds are those of
/// all iterations.
checkpoint::Footprint findBodyFootprint(const PlanningScope &scope, ProgramOp step,
                                        LaunchFacts &facts, const CostModel &costs);

/// Returns the seconds of all executions of the launch.
double countLaunchSeconds(exec::LaunchOp launch, const CostModel &costs);

/// Returns the seconds of all launches, as reports count them, if every value is saved.
double findStepSeconds(ProgramOp step, const LaunchFacts &facts, const CostModel &costs);

} // namespace reprise

#endif // REPRISE_COMPILER_STEPFOOTPRINT_H
