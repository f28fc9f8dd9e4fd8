// reprise: a plan of a step as a value, and the way that a step takes it
#ifndef REPRISE_COMPILER_PLANNER_PLAN_H
#define REPRISE_COMPILER_PLANNER_PLAN_H

#include "BodyPlans.h"
#include "StepOrder.h"
#include "reprise/Pipelines/Phases.h"

namespace reprise {

/// The steps of a form by their names.
inline constexpr std::pair<checkpoint::Form, bool PlanForm::*> kFormSteps[] = {
    {checkpoint::Form::Unrolled, &PlanForm::isUnrolled},
    {checkpoint::Form::BodiesRecomputed, &PlanForm::hasBodies},
    {checkpoint::Form::Deferred, &PlanForm::isDeferred}};

/// A plan of a step, and what the program takes that it becomes.
struct StepPlan {
  PlanForm form;
  BodyPlan bodies; ///< with form.hasBodies
  OpOrder order;   ///< of the step in that form
  /// One per value of the step in this form; empty where the labels are followed.
  std::vector<checkpoint::Choice> choices;
  int64_t peak = 0;                 ///< of live bytes, as the plan was made for; 0 if it was not
  int64_t arena = 0, workspace = 0; ///< bytes, once the plan is packed
  int64_t overridden = 0;           ///< bytes of values whose PREFER is not obeyed
  double seconds = 0;               ///< beyond what all plans of the program take, by the footprint
  double programSeconds = 0;        ///< of all launches of the program, as reports count them
  bool isReordered = false;         ///< its launches are not in program order

  int64_t bytes() const { return arena + workspace; }
  /// Of two plans that fit, the one with less of it is better.
  std::pair<int64_t, double> cost() const { return {overridden, seconds}; }
};

/// Gives the step, which has been through `autodiff`, the form of the plan, and writes its choices
/// on the ops. Only `enoughArena` is left for the phases to come.
mlir::LogicalResult applyPlan(mlir::func::FuncOp step, const StepPlan &plan);
mlir::LogicalResult applyForm(mlir::func::FuncOp step, const StepPlan &plan);

/// A copy of the function in a module of its own.
mlir::OwningOpRef<mlir::ModuleOp> copyAlone(mlir::func::FuncOp function);
/// The function of such a module.
mlir::func::FuncOp getAlone(mlir::ModuleOp module);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLAN_H
