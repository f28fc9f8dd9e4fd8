// reprise: plans as bytes: the one place where a planner compiles what it has planned
#ifndef REPRISE_COMPILER_PLANNER_PACKER_H
#define REPRISE_COMPILER_PLANNER_PACKER_H

#include "FormedStep.h"

namespace reprise {

/// Compiles a copy of the step with the plan's choices up to `memory`, and fills in the plan's
/// arena, workspace and seconds of the program. Fails with the error of a phase.
mlir::LogicalResult pack(const FormedStep &step, StepPlan &plan, const PlanContext &context);

/// Returns bytes of arena and workspace of the step if every value is saved, whatever the labels
/// say.
mlir::FailureOr<int64_t> packSaveAll(const FormedStep &step, const PlanContext &context);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PACKER_H
