// reprise: plans as bytes: the one place where a planner compiles what it has planned
#include "Packer.h"

#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Attributes.h"

using namespace mlir;
using namespace reprise;

/// Compiles the copy, which carries `plan`, and fills in the bytes and seconds of `plan`.
static LogicalResult packCopy(ModuleOp copy, StepPlan &plan, const PlanContext &context) {
  PassManager manager(copy.getContext());
  PhaseOptions phases = context.options.phases;
  phases.facts = context.facts;
  buildPhases(manager, Phase::Partition, Phase::Memory, phases);
  if (failed(manager.run(copy)))
    return failure();
  ProgramOp program = getAlone(copy);
  FailureOr<int64_t> workspace =
      context.facts->findWorkspace(program, countThreads(context.options));
  if (failed(workspace))
    return failure();
  plan.arena = *exec::getArenaBytes(program);
  plan.isReordered = !plan.order.empty() || program->hasAttr(exec::kLaunchesMovedAttr);
  plan.workspace = *workspace;
  plan.programSeconds = 0;
  program.walk([&](exec::LaunchOp launch) {
    plan.programSeconds += countLaunchSeconds(launch, context.costs);
  });
  return success();
}

/// Copies the step, which has its form already, and puts the rest of the plan on the copy.
static OwningOpRef<ModuleOp> copyWith(const FormedStep &step, const StepPlan &plan) {
  OwningOpRef<ModuleOp> copy = copyAlone(step.get());
  StepPlan rest;
  rest.choices = plan.choices;
  rest.executions = plan.executions;
  rest.enoughArena = plan.enoughArena;
  writePlan(getAlone(*copy), rest);
  return copy;
}

LogicalResult reprise::pack(const FormedStep &step, StepPlan &plan, const PlanContext &context) {
  return packCopy(*copyWith(step, plan), plan, context);
}

FailureOr<int64_t> reprise::packSaveAll(const FormedStep &step, const PlanContext &context) {
  StepPlan all = step.shape;
  all.choices.assign(step.numValues(), checkpoint::Choice::Save);
  OwningOpRef<ModuleOp> copy = copyWith(step, all);
  dropLabels(*copy);
  if (failed(packCopy(*copy, all, context)))
    return failure();
  return all.bytes();
}
