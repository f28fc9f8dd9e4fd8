// reprise: a plan of a step as a value, and the way that a step takes it
#ifndef REPRISE_COMPILER_PLANNER_PLAN_H
#define REPRISE_COMPILER_PLANNER_PLAN_H

#include "BodyPlans.h"
#include "StepOrder.h"

#include <set>

namespace reprise {

/// A plan of a step, and what the program takes that it becomes.
struct StepPlan {
  std::set<checkpoint::Form> form; ///< what changes the step before values are chosen
  BodyPlan bodies;                 ///< with Form::BodiesRecomputed
  /// Values that may wait on the host, by the numbers of `reprise-offload-values`.
  std::vector<int64_t> offloaded;
  OpOrder order; ///< of the step in that form
  /// So many bytes of arena do, in which launches may run in another order; 0: no limit.
  int64_t enoughArena = 0;
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

/// Puts the plan on the step, which has been through `autodiff`. Phase `checkpoint` gives it to the
/// step, or applyPlan does before.
void writePlan(mlir::func::FuncOp step, const StepPlan &plan);
/// Gives the step its form, and the plan's choices to the ops. Only `enoughArena` is left for the
/// phases to come. Fails with an error if the plan is for another step.
mlir::LogicalResult applyPlan(mlir::func::FuncOp step, const StepPlan &plan);
/// The same without choices and `enoughArena`.
mlir::LogicalResult applyForm(mlir::func::FuncOp step, StepPlan plan);

/// A copy of the function in a module of its own.
mlir::OwningOpRef<mlir::ModuleOp> copyAlone(mlir::func::FuncOp function);
/// The function of such a module.
mlir::func::FuncOp getAlone(mlir::ModuleOp module);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLAN_H
