// reprise: what a step costs its planner: launches, bytes beside the plan, seconds of replays
#ifndef REPRISE_COMPILER_STEPFOOTPRINT_H
#define REPRISE_COMPILER_STEPFOOTPRINT_H

#include "reprise/Costs/CostModel.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise {

class LaunchFacts;

/// The step around `scope`, as the launches of the target will run it. A replay costs its
/// arithmetic and the bytes that it reads beside the scope's values; launches and traffic have the
/// cost model's seconds. `links`, if wanted, are for other orders of the launches. Errors at an op
/// that no kernel can hold.
mlir::FailureOr<checkpoint::Footprint> findFootprint(const PlanningScope &scope,
                                                     mlir::func::FuncOp step, LaunchFacts &facts,
                                                     const CostModel &costs,
                                                     checkpoint::LaunchLinks *links = nullptr);

/// Of a scope of bodies: each is one launch, 0, 2, …, between which nothing runs, so that what
/// crosses the launch between two bodies are the stacks that one keeps for the other. Seconds are
/// those of all iterations.
checkpoint::Footprint findBodyFootprint(const PlanningScope &scope, mlir::func::FuncOp step,
                                        LaunchFacts &facts, const CostModel &costs);

/// Seconds that all executions of the launch take.
double countLaunchSeconds(exec::LaunchOp launch, const CostModel &costs);

/// Seconds of all launches, as reports count them, if every op runs once and all is saved.
double findStepSeconds(mlir::func::FuncOp step, const LaunchFacts &facts, const CostModel &costs);

} // namespace reprise

#endif // REPRISE_COMPILER_STEPFOOTPRINT_H
