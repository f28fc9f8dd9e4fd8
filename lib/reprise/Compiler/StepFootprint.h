// reprise: what a step costs its planner: launches, bytes beside the plan, seconds of replays
#ifndef REPRISE_COMPILER_STEPFOOTPRINT_H
#define REPRISE_COMPILER_STEPFOOTPRINT_H

#include "reprise/Compiler/CostModel.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"
#include "reprise/Planning/Checkpoint/Footprint.h"

namespace reprise {

class Target;

/// The step around `scope`, as the launches of `target` will run it. A replay costs its arithmetic
/// or the bytes that it reads from other launches and writes, whichever takes longer; one whose
/// readers can compute it in their kernels only what its arithmetic takes beyond the bytes that it
/// spares them.
checkpoint::Footprint findFootprint(const PlanningScope &scope, mlir::func::FuncOp step,
                                    const Target &target, const CostModel &costs);

/// Seconds of the step if every op runs once.
double findStepSeconds(mlir::func::FuncOp step, const Target &target, const CostModel &costs);

} // namespace reprise

#endif // REPRISE_COMPILER_STEPFOOTPRINT_H
