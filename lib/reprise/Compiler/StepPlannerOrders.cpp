// reprise: plans of a step in other orders of its launches
#include "StepPlanner.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::OrderedPlan;
using checkpoint::OrderedPlanner;

bool StepPlanner::wantsOrders() const {
  return scope && !keepsOrder() && isOneScope(step) &&
         checkpoint::wantsOrderedChoices(scope->problem, footprint);
}

OrderedPlanner &StepPlanner::orders() {
  if (!ordered)
    ordered = std::make_unique<OrderedPlanner>(scope->problem, footprint, links, context.search);
  return *ordered;
}

StepPlan StepPlanner::describe(const OrderedPlan &plan) const {
  StepPlan described = describe(plan.plan);
  exec::LaunchNumbers numbers = exec::numberLaunches(step, context.facts->getTarget());
  described.order = findOpOrder(step, numbers, plan.order);
  return described;
}

/// What saves all, so that the order has to do everything, and what replays enough without another
/// order, if that is known.
std::vector<std::vector<Choice>> StepPlanner::listStarts(int64_t goal) {
  std::vector<std::vector<Choice>> starts;
  const StepPlan *nearest = nullptr;
  for (const StepPlan &plan : packed)
    if (!plan.choices.empty() && plan.peak <= goal && (!nearest || plan.cost() < nearest->cost()))
      nearest = &plan;
  if (nearest)
    starts.push_back(nearest->choices);
  starts.push_back(planner->smallest().choices);
  starts.push_back(planner->followed().choices);
  starts.emplace_back(scope->problem.values.size(), Choice::Save);
  return starts;
}

std::vector<StepPlan> StepPlanner::proposeOrdered(int64_t goal) {
  std::vector<StepPlan> proposed;
  for (const OrderedPlan &plan : orders().plan(goal, listStarts(goal)))
    proposed.push_back(describe(plan));
  wasCut |= orders().isTruncated();
  return proposed;
}

StepPlan StepPlanner::proposeSmallestOrdered() {
  return describe(descendInOrders(scope->problem, footprint, links, context.search));
}

void StepPlanner::takeStart(const StepPlan &proposed, const StepPlanner &from) {
  DenseMap<Operation *, Operation *> originals; // in the order of the other planner
  SmallVector<Operation *> known;
  for (Operation &op : func::FuncOp(from.step).getBody().front())
    known.push_back(&op);
  for (auto [own, number] : llvm::zip(func::FuncOp(step).getBody().front(), proposed.order))
    originals[&own] = known[number];
  DenseMap<Operation *, int> firstResult;
  for (auto [op, entry] : llvm::zip(from.scope->ops, from.scope->problem.operations))
    firstResult[op] = entry.firstResult;
  std::vector<Choice> choices;
  for (Operation *op : scope->ops)
    for (unsigned result = 0; result < op->getNumResults(); ++result)
      choices.push_back(proposed.choices[firstResult.lookup(originals.lookup(op)) + result]);
  start = planner->addStart(std::move(choices));
}

LogicalResult StepPlanner::packStart(int64_t enough) {
  return packAndKeep(describe(start), enough);
}
