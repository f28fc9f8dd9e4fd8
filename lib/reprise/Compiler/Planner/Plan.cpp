// reprise: a plan of a step as a value, and the way that a step takes it
#include "Plan.h"

#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

using namespace mlir;
using namespace reprise;

OwningOpRef<ModuleOp> reprise::copyAlone(ProgramOp function) {
  Operation *home = function->getParentOp();
  OwningOpRef<ModuleOp> module = ModuleOp::create(home ? home->getLoc() : function.getLoc());
  module->push_back(function.clone());
  return module;
}

ProgramOp reprise::getAlone(ModuleOp module) { return cast<ProgramOp>(module.getBody()->front()); }

static ArrayAttr toAttribute(MLIRContext *context, const std::vector<checkpoint::Choice> &choices) {
  SmallVector<Attribute> list;
  for (checkpoint::Choice choice : choices)
    list.push_back(PlanChoiceAttr::get(context, static_cast<PlanChoice>(choice)));
  return ArrayAttr::get(context, list);
}

static ArrayAttr toAttribute(MLIRContext *context,
                             const std::vector<checkpoint::Execution> &executions) {
  SmallVector<Attribute> list;
  for (const checkpoint::Execution &execution : executions) {
    SmallVector<int32_t> numbers{execution.operation, execution.replay, execution.before};
    llvm::append_range(numbers, execution.sources);
    list.push_back(DenseI32ArrayAttr::get(context, numbers));
  }
  return ArrayAttr::get(context, list);
}

void reprise::writePlan(ProgramOp step, const StepPlan &plan) {
  MLIRContext *context = step.getContext();
  SmallVector<Attribute> form, bodies;
  for (checkpoint::Form each : plan.form)
    form.push_back(PlanFormStepAttr::get(context, static_cast<PlanFormStep>(each)));
  for (const std::vector<checkpoint::Choice> &choices : plan.bodies)
    bodies.push_back(toAttribute(context, choices));
  step->setDiscardableAttr(
      kPlanAttr,
      PlanAttr::get(context, form.empty() ? nullptr : ArrayAttr::get(context, form),
                    bodies.empty() ? nullptr : ArrayAttr::get(context, bodies),
                    plan.offloaded.empty() ? nullptr
                                           : DenseI64ArrayAttr::get(context, plan.offloaded),
                    plan.order.empty() ? nullptr : DenseI32ArrayAttr::get(context, plan.order),
                    plan.choices.empty() ? nullptr : toAttribute(context, plan.choices),
                    plan.executions.empty() ? nullptr : toAttribute(context, plan.executions),
                    plan.enoughArena));
}

LogicalResult reprise::applyPlan(ProgramOp step, const StepPlan &plan) {
  writePlan(step, plan);
  PassManager manager(step.getContext(), ProgramOp::getOperationName());
  manager.addPass(createApplyPlanPass());
  return manager.run(step);
}

LogicalResult reprise::applyForm(ProgramOp step, StepPlan plan) {
  plan.choices.clear();
  plan.executions.clear();
  plan.enoughArena = 0;
  return applyPlan(step, plan);
}
