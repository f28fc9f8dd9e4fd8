// reprise: plans of a device program as sequences of executions
#include "FormSequences.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Choice;
using checkpoint::Execution;
using checkpoint::SequencePlan;
using checkpoint::SequencePlanner;

bool reprise::wantsSequences(const FormedStep &step) {
  static constexpr int kMostLaunches = 8192; // as each move may look at all of them
  return step.scope && !keepsOrder(step.get()) && isOneScope(step.get()) &&
         step.footprint.numLaunches <= kMostLaunches;
}

static StepPlan describeSequence(const FormSearch &form, const SequencePlan &plan) {
  StepPlan described = form.step.shape;
  ProgramOp function = form.step.get();
  exec::LaunchNumbers numbers = exec::numberLaunches(function, form.context.facts->getTarget());
  described.order = findOpOrder(function, numbers, plan.order);
  described.executions = plan.executions;
  described.peak = plan.usage.peak;
  described.seconds += plan.usage.seconds;
  return described;
}

/// Lists choices from which a search starts: the cheapest packed plan that fits, if there is one,
/// the smallest plan, the plan of the labels, and saving everything.
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

std::vector<StepPlan> reprise::proposeSequences(FormSearch &form, int64_t goal) {
  const FormedStep &step = form.step;
  if (!form.sequences)
    form.sequences = std::make_unique<SequencePlanner>(step.scope->problem, step.footprint,
                                                       step.links, form.context.search);
  std::vector<StepPlan> proposed;
  for (const SequencePlan &plan : form.sequences->plan(goal, listStarts(form, goal)))
    proposed.push_back(describeSequence(form, plan));
  form.isTruncated |= form.sequences->isTruncated();
  return proposed;
}

std::optional<StepPlan> reprise::proposeSmallestSequence(const FormSearch &form) {
  const FormedStep &step = form.step;
  SequencePlanner planner(step.scope->problem, step.footprint, step.links, form.context.search);
  std::optional<SequencePlan> plan = planner.planLeast(
      {form.choices->followed().choices, std::vector<Choice>(form.step.numValues(), Choice::Save)});
  return plan ? std::optional(describeSequence(form, *plan)) : std::nullopt;
}

/// Returns the executions of `proposed`, which speak of the operations and launches of `from`, for
/// `step`, which has the ops of `from` in the order of the plan.
static std::vector<Execution> carryOver(const StepPlan &proposed, const FormedStep &from,
                                        const FormedStep &step, const PlanContext &context) {
  SmallVector<Operation *> known;
  for (Operation &op : from.get().getBody().front())
    known.push_back(&op);
  DenseMap<Operation *, Operation *> copies;
  DenseMap<Operation *, int> operations;
  for (auto [own, number] : llvm::zip(step.get().getBody().front(), proposed.order))
    copies[known[number]] = &own;
  for (auto [number, op] : llvm::enumerate(step.scope->ops))
    operations[op] = static_cast<int>(number);
  exec::LaunchNumbers numbers = exec::numberLaunches(from.get(), context.facts->getTarget());
  std::vector<int> firstOps(numbers.count, -1); // per launch, in the order of the plan
  for (auto [place, number] : llvm::enumerate(proposed.order))
    if (int launch = numbers.of.lookup_or(known[number], -1); launch >= 0 && firstOps[launch] < 0)
      firstOps[launch] = static_cast<int>(place);
  std::vector<Execution> executions = proposed.executions;
  for (Execution &execution : executions) {
    execution.operation = operations.lookup(copies.lookup(from.scope->ops[execution.operation]));
    execution.before = execution.launch < 0 ? -1 : firstOps[execution.launch];
  }
  return executions;
}

LogicalResult reprise::packSequence(FormSearch &form, const StepPlan &proposed,
                                    const FormSearch &from, int64_t enough) {
  StepPlan plan = form.step.shape;
  plan.executions = carryOver(proposed, from.step, form.step, form.context);
  std::optional<checkpoint::Recount> found = count(form.step, plan.executions, form.context);
  if (!found)
    return form.step.get().emitError("internal error in the planner: a sequence of executions is "
                                     "not one of this program");
  plan.peak = found->peak;
  plan.seconds += found->cost;
  return packAndKeep(form, std::move(plan), enough);
}
