// reprise: gives a device program the plan that stands on it.
#include "Plan.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"
#include "reprise/Dialect/Reprise/Transforms/ProgramOrder.h"

using namespace mlir;
using reprise::checkpoint::Choice;

namespace reprise {

#define GEN_PASS_DEF_APPLYPLANPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

std::vector<Choice> readList(ArrayAttr list) {
  std::vector<Choice> choices;
  for (auto choice : list.getAsRange<PlanChoiceAttr>())
    choices.push_back(static_cast<Choice>(choice.getValue()));
  return choices;
}

struct ApplyPlanPass : impl::ApplyPlanPassBase<ApplyPlanPass> {
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    auto plan = program->getAttrOfType<PlanAttr>(kPlanAttr);
    if (!plan)
      return;
    if (failed(writeBodies(plan)) || failed(giveForm(plan)) || failed(reorder(plan)) ||
        failed(writeAll(plan)))
      return signalPassFailure();
    setLaterPlan(program, plan.getExecutions(), plan.getEnoughArena());
  }

private:
  InFlightDiagnostic fail() {
    return getOperation().emitError("the plan is for another program: the plan ");
  }

  LogicalResult writeBodies(PlanAttr plan) {
    if (!plan.getBodies() || !plan.has(PlanFormStep::BodiesRecomputed))
      return success();
    std::vector<PlanningScope> scopes = findBodyScopes(getOperation());
    if (scopes.size() != plan.getBodies().size())
      return fail() << "has choices for " << plan.getBodies().size() << " scopes of bodies, not "
                    << scopes.size();
    for (auto [scope, list] : llvm::zip(scopes, plan.getBodies().getAsRange<ArrayAttr>()))
      if (failed(write(scope, list)))
        return failure();
    return success();
  }

  LogicalResult write(const PlanningScope &scope, ArrayAttr list) {
    size_t values = scope.problem.values.size();
    if (list.size() != values)
      return fail() << "has choices for " << list.size() << " values, not " << values;
    writeChoices(scope, readList(list));
    return success();
  }

  LogicalResult giveForm(PlanAttr plan) {
    OpPassManager passes(ProgramOp::getOperationName());
    bool isUnrolled = plan.has(PlanFormStep::Unrolled);
    if (isUnrolled) {
      passes.addPass(createUnrollLoopsPass());
      passes.addPass(createCanonicalizePass());
      passes.addPass(createCSEPass());
    }
    if (plan.has(PlanFormStep::BodiesRecomputed))
      passes.addPass(createCheckpointPass({/*bodies=*/true}));
    if (plan.has(PlanFormStep::Sliced))
      passes.addPass(createSliceHeadPass());
    if (plan.has(PlanFormStep::Deferred))
      passes.addPass(createDeferGradientPass());
    if (isUnrolled || plan.getOffloaded()) {
      OffloadValuesPassOptions offloads;
      if (plan.getOffloaded())
        offloads.values.assign(plan.getOffloaded().asArrayRef().begin(),
                               plan.getOffloaded().asArrayRef().end());
      passes.addPass(createOffloadValuesPass(offloads));
    }
    return runPipeline(passes, getOperation());
  }

  LogicalResult reorder(PlanAttr plan) {
    if (!plan.getOrder())
      return success();
    if (!isPossible(getOperation(), plan.getOrder().asArrayRef()))
      return fail() << "runs an op before one that the op reads from";
    applyOrder(getOperation(), plan.getOrder().asArrayRef());
    return success();
  }

  LogicalResult writeAll(PlanAttr plan) {
    if (!plan.getChoices())
      return success();
    std::optional<PlanningScope> scope = findJointScope(getOperation());
    if (!scope)
      return fail() << "has choices, and the program has no gradient";
    return write(*scope, plan.getChoices());
  }
};

} // namespace
} // namespace reprise
