// reprise: plans of a device program in other orders of its launches
#include "FormOrders.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::OrderedPlan;

bool reprise::wantsOrders(const FormedStep &step) {
  return step.scope && !keepsOrder(step.get()) && isOneScope(step.get()) &&
         checkpoint::wantsOrderedChoices(step.scope->problem, step.footprint);
}

static StepPlan describeOrdered(const FormSearch &form, const OrderedPlan &plan) {
  StepPlan described = describe(form, plan.plan);
  ProgramOp function = form.step.get();
  exec::LaunchNumbers numbers = exec::numberLaunches(function, form.context.facts->getTarget());
  described.order = findOpOrder(function, numbers, plan.order);
  return described;
}

/// Lists choices from which a search over orders starts: the cheapest packed plan that fits in
/// program order, if there is one, the smallest plan, the plan of the labels, and saving
/// everything.
static std::vector<std::vector<Choice>> listStarts(const FormSearch &form, int64_t goal) {
  std::vector<std::vector<Choice>> starts;
  const StepPlan *nearest = nullptr;
  for (const StepPlan &plan : form.packed)
    if (!plan.choices.empty() && plan.peak <= goal && (!nearest || plan.cost() < nearest->cost()))
      nearest = &plan;
  if (nearest)
    starts.push_back(nearest->choices);
  starts.push_back(form.choices->smallest().choices);
  starts.push_back(form.choices->followed().choices);
  starts.emplace_back(form.step.numValues(), Choice::Save);
  return starts;
}

std::vector<StepPlan> reprise::proposeOrdered(FormSearch &form, int64_t goal) {
  if (!form.ordered)
    form.ordered = std::make_unique<checkpoint::OrderedPlanner>(
        form.step.scope->problem, form.step.footprint, form.step.links, form.context.search);
  std::vector<StepPlan> proposed;
  for (const OrderedPlan &plan : form.ordered->plan(goal, listStarts(form, goal)))
    proposed.push_back(describeOrdered(form, plan));
  form.isTruncated |= form.ordered->isTruncated();
  return proposed;
}

StepPlan reprise::proposeSmallestOrdered(const FormSearch &form) {
  const FormedStep &step = form.step;
  return describeOrdered(
      form, descendInOrders(step.scope->problem, step.footprint, step.links, form.context.search));
}

/// Returns the choices of `proposed`, which speak of the values of `from`, for the values of
/// `step`, which has the ops of `from` in the order of the plan.
static std::vector<Choice> carryOver(const StepPlan &proposed, const FormedStep &from,
                                     const FormedStep &step) {
  DenseMap<Operation *, Operation *> originals;
  SmallVector<Operation *> known;
  for (Operation &op : from.get().getBody().front())
    known.push_back(&op);
  for (auto [own, number] : llvm::zip(step.get().getBody().front(), proposed.order))
    originals[&own] = known[number];
  DenseMap<Operation *, int> firstResult;
  for (auto [op, entry] : llvm::zip(from.scope->ops, from.scope->problem.operations))
    firstResult[op] = entry.firstResult;
  std::vector<Choice> choices;
  for (Operation *op : step.scope->ops)
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      choices.push_back(proposed.choices[firstResult.lookup(originals.lookup(op)) + result]);
  return choices;
}

LogicalResult reprise::packStart(FormSearch &form, const StepPlan &proposed, const FormSearch &from,
                                 int64_t enough) {
  checkpoint::Plan start = form.choices->addStart(carryOver(proposed, from.step, form.step));
  return packAndKeep(form, describe(form, start), enough);
}
