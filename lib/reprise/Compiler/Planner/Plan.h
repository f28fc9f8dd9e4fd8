// reprise: a plan of a step as a value, and the way that a step takes it
#ifndef REPRISE_COMPILER_PLANNER_PLAN_H
#define REPRISE_COMPILER_PLANNER_PLAN_H

#include "BodyPlans.h"
#include "StepOrder.h"

#include <set>

namespace reprise {

/// A plan of a step. `#reprise.plan` is its form in the IR. A packed plan knows the bytes and the
/// seconds of its program.
struct StepPlan {
  std::set<checkpoint::Form> form; ///< steps that change the program before values are chosen
  BodyPlan bodies;                 ///< choices for bodies of loops, with Form::BodiesRecomputed
  /// Values that wait on the host, by the numbers of `reprise-offload-values`.
  std::vector<int64_t> offloaded;
  OpOrder order; ///< order of the ops in that form
  /// Arena in bytes that is good enough: launches may be reordered until the arena fits it. 0 keeps
  /// program order and asks for the smallest arena.
  int64_t enoughArena = 0;
  /// Choices, one per value of the step in this form; empty if the plan follows the labels.
  std::vector<checkpoint::Choice> choices;
  /// Replays and their readers instead of choices, by the numbers of the operations of the step in
  /// this form. `before` is the number of an op of the program (NamedExecutions). Plans of
  /// sequences have them.
  std::vector<checkpoint::Execution> executions;
  int64_t peak = 0; ///< most live bytes that the search predicts; 0 without a search
  int64_t arena = 0, workspace = 0; ///< bytes, once the plan is packed
  int64_t overridden = 0;           ///< bytes of values whose PREFER is not obeyed
  double seconds = 0;               ///< seconds beyond those of every plan, by the footprint
  double programSeconds = 0;        ///< seconds of all launches, as reports count them
  bool isReordered = false;         ///< its launches are not in program order

  int64_t bytes() const { return arena + workspace; }
  /// Cost by which plans that fit are compared; the smaller is better.
  std::pair<int64_t, double> cost() const { return {overridden, seconds}; }
};

/// Puts the plan on the step as `reprise.plan`. The step has been through `autodiff`. Phase
/// `checkpoint` applies the plan, unless applyPlan has done so.
void writePlan(ProgramOp step, const StepPlan &plan);
/// Puts the plan on the step and applies it: the step gets its form, and its ops the choices. Only
/// `enoughArena` stays for later phases. Fails with an error if the plan is for another step.
mlir::LogicalResult applyPlan(ProgramOp step, const StepPlan &plan);
/// Applies the plan without its choices and without `enoughArena`.
mlir::LogicalResult applyForm(ProgramOp step, StepPlan plan);

/// Copies the function into a new module.
mlir::OwningOpRef<mlir::ModuleOp> copyAlone(ProgramOp function);
/// Returns the function of a module that copyAlone has made.
ProgramOp getAlone(mlir::ModuleOp module);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANNER_PLAN_H
