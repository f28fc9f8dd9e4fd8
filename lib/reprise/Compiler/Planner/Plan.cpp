// reprise: a plan of a step as a value, and the way that a step takes it
#include "Plan.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace reprise;

OwningOpRef<ModuleOp> reprise::copyAlone(func::FuncOp function) {
  Operation *home = function->getParentOp();
  OwningOpRef<ModuleOp> module = ModuleOp::create(home ? home->getLoc() : function.getLoc());
  module->push_back(function.clone());
  return module;
}

func::FuncOp reprise::getAlone(ModuleOp module) {
  return cast<func::FuncOp>(module.getBody()->front());
}

LogicalResult reprise::applyForm(func::FuncOp step, const StepPlan &plan) {
  if (plan.form.hasBodies)
    writeBodyPlan(step, plan.bodies);
  PassManager manager(step.getContext(), func::FuncOp::getOperationName());
  buildForm(manager, plan.form);
  if (failed(manager.run(step)))
    return failure();
  applyOrder(step, plan.order);
  return success();
}

LogicalResult reprise::applyPlan(func::FuncOp step, const StepPlan &plan) {
  if (failed(applyForm(step, plan)))
    return failure();
  if (!plan.choices.empty())
    writeChoices(*findJointScope(step), plan.choices);
  return success();
}
