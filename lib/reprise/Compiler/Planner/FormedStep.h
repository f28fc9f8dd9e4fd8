// reprise: a device program in one form, as a problem of choices with its bounds
#ifndef REPRISE_COMPILER_PLANNER_FORMEDSTEP_H
#define REPRISE_COMPILER_PLANNER_FORMEDSTEP_H

#include "Plan.h"
#include "PlanContext.h"

namespace reprise {

/// A copy of the program in one form, with what it costs beside its plans.
struct FormedStep {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  StepPlan shape;                     ///< an empty plan of this form, with the form's own seconds
  std::optional<PlanningScope> scope; ///< none without cotangents
  checkpoint::Footprint footprint;
  checkpoint::LaunchLinks links;
  double base = 0;     ///< seconds that the program takes in any plan of any form
  double added = 0;    ///< what this form takes beyond that
  double cheapest = 0; ///< what every plan in this form adds to both, at least

  mlir::func::FuncOp get() const { return getAlone(*module); }
  size_t numValues() const { return scope ? scope->problem.values.size() : 0; }
};

/// Looks at launches, bytes and seconds of the function in `module`, which has the form of `shape`.
/// `plainSeconds` are those of the program without a form; none if this is that program.
mlir::FailureOr<FormedStep> survey(mlir::OwningOpRef<mlir::ModuleOp> module, StepPlan shape,
                                   const PlanContext &context,
                                   std::optional<double> plainSeconds = std::nullopt);

/// Seconds of a plan with these choices, as in StepPlan.
double price(const FormedStep &step, const std::vector<checkpoint::Choice> &choices);

bool hasLoops(const FormedStep &step);

/// \name Bounds: what every plan of the form takes. `room` is in bytes of arena.
/// @{

/// Seconds of plans in program order; infinite if none fits.
double findLeastSeconds(const FormedStep &step, int64_t room, const PlanContext &context);
/// Seconds of plans in any order of the launches.
double findAnyOrderSeconds(const FormedStep &step, int64_t room, const PlanContext &context);
/// Seconds of plans that may beat `plan`, which fits: in any order of the launches if that one is
/// not in program order. Looks closer where the gap is wide.
double findBound(const FormedStep &step, int64_t room, const StepPlan &plan,
                 const PlanContext &context);
/// The arena, in any order; 0 if `room` bytes are not proved to be too few.
int64_t findProvedArena(const FormedStep &step, int64_t room, const PlanContext &context);
/// @}

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_FORMEDSTEP_H
