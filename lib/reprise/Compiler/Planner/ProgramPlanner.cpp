// reprise: plans of a device program, in every form that a plan may give it
#include "ProgramPlanner.h"

#include "Forms.h"
#include "Packer.h"
#include "Strategies.h"

using namespace mlir;
using namespace reprise;

ProgramPlanner::ProgramPlanner(ProgramOp program, const CompileOptions &options,
                               std::shared_ptr<LaunchFacts> facts, const CostModel &costs)
    : known(program, options, std::move(facts), costs) {}

LogicalResult ProgramPlanner::start() {
  FailureOr<FormSearch *> plain = addForm(known, copyAlone(known.program), {}, known.forms);
  return failure(failed(plain) || failed(packFollowed(**plain)));
}

FailureOr<int64_t> ProgramPlanner::findSaveAllBytes() {
  if (saveAll)
    return *saveAll;
  FailureOr<int64_t> bytes = packSaveAll(known.plain().step, known.context);
  if (succeeded(bytes))
    saveAll = *bytes;
  return bytes;
}

FailureOr<int64_t> ProgramPlanner::resolve(const Budget &budget) {
  if (budget.bytes)
    return *budget.bytes;
  FailureOr<int64_t> all = findSaveAllBytes();
  if (failed(all))
    return failure();
  return static_cast<int64_t>(*budget.share * static_cast<double>(*all));
}

static bool isDue(Turn turn, const PlanSearch &search, int64_t budget) {
  switch (turn) {
  case Turn::Always:
    return true;
  case Turn::Unfinished:
    return !isEnough(search, budget);
  case Turn::NothingFits:
    return !findBest(search, budget);
  }
  llvm_unreachable("no such turn");
}

LogicalResult ProgramPlanner::search(int64_t budget) {
  if (failed(addForms(known)))
    return failure();
  for (const Strategy &strategy : listStrategies())
    if (isDue(strategy.turn, known, budget) && failed(strategy.run(known, budget)))
      return failure();
  return success();
}

FailureOr<std::optional<BudgetOutcome>> ProgramPlanner::plan(int64_t budget) {
  const StepPlan &usual = followed();
  const FormedStep &plain = known.plain().step;
  size_t before = plans().size();
  bool isOpen = usual.bytes() > budget || usual.seconds > plain.added + plain.cheapest;
  if (isOpen && failed(search(budget)))
    return failure();
  const StepPlan *best = findBest(known, budget);
  if (!best)
    return std::optional<BudgetOutcome>();
  // We prefer the plan without a budget to a plan of the same cost that may need more bytes.
  if (followed().bytes() <= budget && followed().cost() <= best->cost())
    best = &followed();
  BudgetOutcome outcome;
  outcome.budget = budget;
  outcome.plan = *best;
  outcome.rounds = static_cast<int>(std::max<size_t>(1, plans().size() - before));
  outcome.total = stepSeconds() + followed().seconds;
  outcome.usual = followed().seconds;
  outcome.usualBytes = followed().bytes();
  outcome.isTruncated = isTruncated(known);
  outcome.bound = findBound(budget, *best);
  FailureOr<int64_t> all = findSaveAllBytes();
  if (failed(all))
    return failure();
  outcome.saveAll = *all;
  return std::optional(std::move(outcome));
}

FailureOr<std::optional<int64_t>> ProgramPlanner::findFitting(int64_t budget) {
  const FormSearch *smallest = findSmallest(known).second;
  forget(known);
  for (FormSearch &form : known.forms) // none in another order
    if (&form == smallest)
      known.likely = &form;
  known.takesAny = true;
  LogicalResult searched = followed().bytes() > budget ? search(budget) : success();
  known.takesAny = false;
  known.likely = nullptr;
  if (failed(searched))
    return failure();
  const StepPlan *found = findBest(known, budget);
  return found ? std::optional(found->bytes()) : std::nullopt;
}

FailureOr<double> ProgramPlanner::findIncrease(const StepPlan &plan) {
  StepPlan shape;
  shape.form = plan.form;
  shape.bodies = plan.bodies;
  shape.offloaded = plan.offloaded;
  shape.order = plan.order;
  OwningOpRef<ModuleOp> module = copyAlone(known.program);
  if (failed(applyForm(getAlone(*module), shape)))
    return failure();
  std::deque<FormSearch> alone;
  FailureOr<FormSearch *> form = addForm(known, std::move(module), std::move(shape), alone);
  if (failed(form) || failed(packFollowed(**form)))
    return failure();
  double seconds = (*form)->followed().seconds;
  if (!plan.choices.empty())
    seconds = price((*form)->step, plan.choices);
  else if (auto found = plan.executions.empty()
                            ? std::nullopt
                            : count((*form)->step, plan.executions, known.context))
    seconds = (*form)->step.added + found->cost;
  return (seconds - followed().seconds) / std::max(stepSeconds() + followed().seconds, 1e-30);
}

double ProgramPlanner::findBound(int64_t budget, const StepPlan &plan) const {
  int64_t room = budget - plan.workspace;
  double bound = plan.seconds;
  for (const FormedStep *step : listBounding(known)) {
    double least = plan.isReordered ? step->added : findLeastSeconds(*step, room, known.context);
    if (least < bound)
      bound = std::min(bound, reprise::findBound(*step, room, plan, known.context));
  }
  return bound;
}

int64_t ProgramPlanner::leastBytes() const {
  int64_t least = known.leastOrdered;
  for (const FormSearch &form : known.forms)
    least = std::min(least, reprise::leastBytes(form));
  return least;
}
