// reprise: a device program in one form, as a problem of choices with its bounds
#ifndef REPRISE_COMPILER_PLANNER_FORMEDSTEP_H
#define REPRISE_COMPILER_PLANNER_FORMEDSTEP_H

#include "Plan.h"
#include "PlanContext.h"
#include "reprise/Planning/Checkpoint/Problem/Recount.h"

namespace reprise {

/// A copy of the program in one form, with the costs that do not depend on a plan.
struct FormedStep {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  StepPlan shape;                     ///< an empty plan of this form, with the seconds of the form
  std::optional<PlanningScope> scope; ///< empty for a step without cotangents
  checkpoint::Footprint footprint;
  checkpoint::LaunchLinks links;
  double base = 0;     ///< seconds that the program takes in any plan of any form
  double added = 0;    ///< seconds that this form takes beyond `base`
  double cheapest = 0; ///< least seconds that a plan of this form adds to both

  ProgramOp get() const { return getAlone(*module); }
  size_t numValues() const { return scope ? scope->problem.values.size() : 0; }
};

/// Surveys launches, bytes and seconds of the function in `module`, which has the form of `shape`.
/// `plainSeconds` is the `base` of the program without a form; empty for that program itself.
mlir::FailureOr<FormedStep> survey(mlir::OwningOpRef<mlir::ModuleOp> module, StepPlan shape,
                                   const PlanContext &context,
                                   std::optional<double> plainSeconds = std::nullopt);

/// Returns `StepPlan::seconds` of a plan with these choices.
double price(const FormedStep &step, const std::vector<checkpoint::Choice> &choices);
/// Returns peak and seconds of a plan of these executions, without `step.added`; none if they are
/// not executions of the step.
std::optional<checkpoint::Recount> count(const FormedStep &step,
                                         const std::vector<checkpoint::Execution> &executions,
                                         const PlanContext &context);

bool hasLoops(const FormedStep &step);

/// \name Lower bounds on all plans of the form that fit an arena of `room` bytes
/// @{

/// Returns seconds for plans in program order; infinity if no such plan fits.
double findLeastSeconds(const FormedStep &step, int64_t room, const PlanContext &context);
/// Returns seconds for plans in any order of the launches.
double findAnyOrderSeconds(const FormedStep &step, int64_t room, const PlanContext &context);
/// Returns seconds for plans in the order of `plan`, which fits: in program order, or in any order
/// if `plan` is reordered. A wide gap to `plan` is computed again by a stronger bound.
double findBound(const FormedStep &step, int64_t room, const StepPlan &plan,
                 const PlanContext &context);
/// Returns bytes of arena below which no plan in any order fits; 0 if some plan may fit `room`.
int64_t findProvedArena(const FormedStep &step, int64_t room, const PlanContext &context);
/// @}

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMEDSTEP_H
