// reprise: plans of a device program, in every form that a plan may give it
#include "ProgramPlanner.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/Transforms/DeferGradient.h"
#include "reprise/Support/Parallel.h"

#include <cmath>

using namespace mlir;
using namespace reprise;

ProgramPlanner::ProgramPlanner(func::FuncOp program, const CompileOptions &options,
                               std::shared_ptr<LaunchFacts> facts, const CostModel &costs)
    : program(program), context(options, std::move(facts), costs) {}

LogicalResult ProgramPlanner::start() {
  forms.push_back({copyAlone(program), nullptr});
  forms.back().planner = std::make_unique<StepPlanner>(getAlone(*forms.back().module), context);
  return failure(failed(plain().survey()) || failed(plain().packFollowed()));
}

FailureOr<int64_t> ProgramPlanner::findSaveAllBytes() {
  if (saveAll)
    return *saveAll;
  FailureOr<int64_t> bytes = plain().packSaveAll();
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

/// A form that the program cannot have is none.
LogicalResult ProgramPlanner::addForm(StepPlan shape) {
  Form form{copyAlone(program), nullptr};
  {
    QuietThread ignored(*program.getContext());
    if (failed(applyForm(getAlone(*form.module), shape)))
      return success();
  }
  return survey(std::move(form), std::move(shape));
}

LogicalResult ProgramPlanner::survey(Form form, StepPlan shape) {
  form.planner = std::make_unique<StepPlanner>(getAlone(*form.module), context, std::move(shape));
  if (failed(form.planner->survey(stepSeconds())))
    return failure();
  forms.push_back(std::move(form));
  return success();
}

/// The form with a large gradient that waits, if there is one.
LogicalResult ProgramPlanner::addDeferred(const Form &form) {
  static constexpr int64_t worthwhile = 16; // a part of the arena
  StepPlan shape = form.planner->getShape();
  shape.form.isDeferred = true;
  Form deferred{copyAlone(getAlone(*form.module)), nullptr};
  if (deferGradient(getAlone(*deferred.module)) < followed().arena / worthwhile)
    return success();
  return survey(std::move(deferred), std::move(shape));
}

LogicalResult ProgramPlanner::addUnrolled() {
  StepPlan unrolled;
  unrolled.form.isUnrolled = true;
  size_t first = forms.size();
  if (failed(addForm(std::move(unrolled))))
    return failure();
  return forms.size() > first ? addDeferred(forms[first]) : success();
}

/// Of all iterations.
static double countOps(func::FuncOp function) {
  double ops = 0;
  function.walk([&](Operation *op) { ops += static_cast<double>(countExecutions(op)); });
  return ops;
}

LogicalResult ProgramPlanner::addForms() {
  if (context.isLate() || std::exchange(hasForms, true))
    return success();
  bool hasLoops = !program.getBody().front().getOps<LoopOp>().empty();
  if (hasLoops)
    for (BodyPlan &bodies : findBodyPlans(program, *context.facts, context.costs)) {
      StepPlan shape;
      shape.form.hasBodies = true;
      shape.bodies = std::move(bodies);
      if (failed(addForm(std::move(shape))))
        return failure();
    }
  for (size_t i = 0, count = forms.size(); i < count; ++i)
    if (failed(addDeferred(forms[i])))
      return failure();
  isUnrolledLast = hasLoops && countOps(program) > kMostUnrolled;
  if (hasLoops && !isUnrolledLast && failed(addUnrolled()))
    return failure();
  numCompeting = forms.size();
  return relax();
}

const StepPlan *ProgramPlanner::findBest(int64_t budget) const {
  const StepPlan *best = nullptr;
  for (const StepPlan *plan : plans())
    if (plan->bytes() <= budget && (!best || plan->cost() < best->cost()))
      best = plan;
  return best;
}

int64_t ProgramPlanner::findRoom(int64_t budget) const { return budget - followed().workspace; }

/// False if no plan of the form within the budget is cheaper than the best one that is known.
/// Another order of the launches costs nothing, so it is tried where it may be cheaper.
FailureOr<bool> ProgramPlanner::mayWin(StepPlanner &form, double least, int64_t budget) {
  const StepPlan *best = findBest(budget);
  if (best && best->overridden == 0 && form.addedSeconds() >= best->seconds)
    return false;
  if (std::isfinite(least) && (!best || best->overridden > 0 || least < best->seconds))
    return true;
  if (form.keepsOrder() || form.findProvedArena(findRoom(budget)) > 0)
    return false;
  if (!best || best->overridden > 0)
    return true;
  if (form.findAnyOrderSeconds(findRoom(budget)) >= best->seconds)
    return false;
  if (failed(form.packFollowed()) || failed(form.packReordered(budget)))
    return failure();
  best = findBest(budget);
  return llvm::any_of(form.plans(), [&](const StepPlan &plan) { return &plan == best; });
}

/// The forms that may be cheapest first.
LogicalResult ProgramPlanner::searchForms(int64_t budget) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, form] : llvm::enumerate(forms))
    if (i != likely)
      order.push_back({form.planner->findLeastSeconds(findRoom(budget)), i});
  llvm::sort(order);
  for (auto [least, i] : order) {
    if (isEnough(budget) || (i > 0 && context.isLate()))
      continue;
    if (failed(searchForm(*forms[i].planner, least, budget)))
      return failure();
  }
  return success();
}

LogicalResult ProgramPlanner::searchForm(StepPlanner &form, double least, int64_t budget) {
  FailureOr<bool> may = mayWin(form, least, budget);
  return failure(failed(may) || (*may && failed(form.search(budget))));
}

/// The form that had the smallest plan before, with all that is tried in it.
LogicalResult ProgramPlanner::searchLikely(int64_t budget) {
  if (!likely)
    return success();
  StepPlanner &form = *forms[*likely].planner;
  if (failed(searchForm(form, form.findLeastSeconds(findRoom(budget)), budget)))
    return failure();
  return failure(!isEnough(budget) && failed(form.packSmaller()));
}

/// Whether a plan within the budget ends the search, however dear it is.
bool ProgramPlanner::isEnough(int64_t budget) const {
  bool isOver = context.search.isOver && context.search.isOver();
  return (takesAny || isOver) && findBest(budget);
}

/// Packs the smallest plans of the forms, those of the least proved arena first, but of no form
/// that is proved to have none that is smaller. These plans do not depend on the budget, so that
/// the least budget of an error is met by whoever asks for it.
LogicalResult ProgramPlanner::searchSmaller(int64_t budget) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, form] : llvm::enumerate(forms))
    order.push_back({form.planner->findProvedArena(1), i});
  llvm::sort(order);
  int64_t least = INT64_MAX;
  for (auto [proved, i] : order) {
    StepPlanner &form = *forms[i].planner;
    if (isEnough(budget) || (i > 0 && context.isLate()) || (proved > 0 && proved >= least))
      continue;
    if (failed(form.packSmaller()))
      return failure();
    least = std::min(least, form.leastBytes());
  }
  return success();
}

/// The program in the order of a plan that was proposed for it, with the choices as a start.
FailureOr<StepPlanner *> ProgramPlanner::addOrdered(StepPlan proposed) {
  StepPlan shape = plain().getShape();
  shape.order = proposed.order;
  Form form{copyAlone(program), nullptr};
  applyOrder(getAlone(*form.module), shape.order);
  form.planner = std::make_unique<StepPlanner>(getAlone(*form.module), context, std::move(shape));
  if (failed(form.planner->survey(stepSeconds())))
    return failure();
  form.planner->takeStart(proposed, plain());
  ordered.push_back(std::move(form));
  return ordered.back().planner.get();
}

/// In orders in which choices and the order of the launches were annealed together. What is packed
/// may take more than was reckoned, so the excess is taken off the next goal.
LogicalResult ProgramPlanner::searchOrders(int64_t budget) {
  static constexpr double kNear = 0.002; // of the step
  static constexpr int kMostRounds = 3;
  const StepPlan *best = findBest(budget);
  int64_t room = findRoom(budget), goal = room;
  if (context.isLate() || !plain().wantsOrders() || plain().findProvedArena(room) > 0)
    return success();
  double least = plain().findAnyOrderSeconds(room);
  if (best && best->overridden == 0 && best->seconds - least <= kNear * stepSeconds())
    return success();
  StepPlanner *latest = nullptr;
  bool fits = false;
  for (int round = 0; round < kMostRounds && !fits; ++round) {
    int64_t excess = INT64_MAX;
    for (StepPlan &proposed : plain().proposeOrdered(goal)) {
      FailureOr<StepPlanner *> form = addOrdered(std::move(proposed));
      if (failed(form) || failed((*form)->packStart(room)))
        return failure();
      int64_t own = (*form)->plans().back().bytes() - budget;
      latest = own < excess ? *form : latest;
      excess = std::min(excess, own);
      if ((fits = own <= 0))
        break;
    }
    if (excess == INT64_MAX)
      break;
    goal -= excess;
  }
  return latest ? latest->search(budget) : success();
}

LogicalResult ProgramPlanner::packSmallestOrdered() {
  if (context.isLate() || !plain().wantsOrders() || std::exchange(hasSmallestOrdered, true))
    return success();
  FailureOr<StepPlanner *> form = addOrdered(plain().proposeSmallestOrdered());
  if (failed(form) || failed((*form)->packStart(0)))
    return failure();
  leastOrdered = (*form)->plans().back().bytes();
  return success();
}

LogicalResult ProgramPlanner::search(int64_t budget) {
  if (failed(addForms()) || failed(searchLikely(budget)) || failed(searchForms(budget)))
    return failure();
  if (!findBest(budget) && !context.isLate() && std::exchange(isUnrolledLast, false) &&
      (failed(addUnrolled()) || failed(relax()) || failed(searchForms(budget))))
    return failure();
  if (!isEnough(budget) && (failed(searchOrders(budget)) || failed(searchOffloads(budget))))
    return failure();
  if (!findBest(budget) && failed(searchSmaller(budget)))
    return failure();
  return failure(!findBest(budget) && failed(packSmallestOrdered()));
}

FailureOr<std::optional<int64_t>> ProgramPlanner::findFitting(int64_t budget) {
  const StepPlanner *smallest = findSmallest().second;
  forget();
  likely = findForm(smallest);
  takesAny = true;
  LogicalResult searched = followed().bytes() > budget ? search(budget) : success();
  takesAny = false;
  likely.reset();
  const StepPlan *found = findBest(budget);
  if (failed(searched))
    return failure();
  return found ? std::optional(found->bytes()) : std::nullopt;
}

FailureOr<std::optional<BudgetOutcome>> ProgramPlanner::plan(int64_t budget) {
  size_t known = plans().size();
  bool isOpen = followed().bytes() > budget || followed().seconds > plain().leastSeconds();
  if (isOpen && failed(search(budget)))
    return failure();
  const StepPlan *best = findBest(budget);
  if (!best)
    return std::optional<BudgetOutcome>();
  // A plan that is no faster takes no more bytes than the one without a budget.
  if (followed().bytes() <= budget && followed().cost() <= best->cost())
    best = &followed();
  BudgetOutcome outcome;
  outcome.budget = budget;
  outcome.plan = *best;
  outcome.rounds = static_cast<int>(std::max<size_t>(1, plans().size() - known));
  outcome.total = stepSeconds() + followed().seconds;
  outcome.usual = followed().seconds;
  outcome.usualBytes = followed().bytes();
  outcome.isTruncated = isTruncated();
  outcome.bound = findBound(budget, *best);
  FailureOr<int64_t> all = findSaveAllBytes();
  if (failed(all))
    return failure();
  outcome.saveAll = *all;
  return std::optional(std::move(outcome));
}

FailureOr<double> ProgramPlanner::findIncrease(const StepPlan &plan) {
  StepPlan shape;
  shape.form = plan.form;
  shape.form.enoughArena = 0;
  shape.bodies = plan.bodies;
  shape.order = plan.order;
  Form form{copyAlone(program), nullptr};
  if (failed(applyForm(getAlone(*form.module), shape)))
    return failure();
  StepPlanner planner(getAlone(*form.module), context, std::move(shape));
  if (failed(planner.survey(stepSeconds())) || failed(planner.packFollowed()))
    return failure();
  double beyond = planner.price(plan.choices) - followed().seconds;
  return beyond / std::max(stepSeconds() + followed().seconds, 1e-30);
}

double ProgramPlanner::findBound(int64_t budget, const StepPlan &plan) const {
  int64_t room = budget - plan.workspace;
  double bound = plan.seconds;
  for (const Form &form : relaxed.empty() ? forms : relaxed) {
    const StepPlanner &own = *form.planner;
    if ((plan.isReordered ? own.addedSeconds() : own.findLeastSeconds(room)) < bound)
      bound = std::min(bound, own.findBound(room, plan));
  }
  return bound;
}

/// All plans that were packed but that of the labels: what follows is as if it came first.
void ProgramPlanner::forget() {
  isUnrolledLast |= forms.size() > numCompeting;
  forms.resize(numCompeting);
  ordered.clear();
  offloading.clear();
  relaxed.resize(std::min(relaxed.size(), numCompeting));
  hasSmallestOrdered = false;
  for (auto [i, form] : llvm::enumerate(forms))
    form.planner->forget(/*keepsFollowed=*/i == 0);
}

std::pair<const StepPlan *, StepPlanner *> ProgramPlanner::findSmallest() const {
  std::pair<const StepPlan *, StepPlanner *> smallest = {&followed(), &plain()};
  for (StepPlanner *planner : listPlanners())
    for (const StepPlan &plan : planner->plans())
      if (plan.bytes() < smallest.first->bytes())
        smallest = {&plan, planner};
  return smallest;
}

int64_t ProgramPlanner::leastBytes() const {
  int64_t least = leastOrdered;
  for (const Form &form : forms)
    least = std::min(least, form.planner->leastBytes());
  return least;
}

/// None for a planner of another order.
std::optional<size_t> ProgramPlanner::findForm(const StepPlanner *planner) const {
  for (auto [i, form] : llvm::enumerate(forms))
    if (form.planner.get() == planner)
      return i;
  return std::nullopt;
}

/// The planners of all forms and orders.
std::vector<StepPlanner *> ProgramPlanner::listPlanners() const {
  std::vector<StepPlanner *> planners;
  for (const std::vector<Form> *list : {&forms, &ordered, &offloading})
    for (const Form &form : *list)
      planners.push_back(form.planner.get());
  return planners;
}

bool ProgramPlanner::isTruncated() const {
  return llvm::any_of(listPlanners(),
                      [](const StepPlanner *planner) { return planner->isTruncated(); });
}

std::vector<const StepPlan *> ProgramPlanner::plans() const {
  std::vector<const StepPlan *> plans;
  for (const StepPlanner *planner : listPlanners())
    for (const StepPlan &plan : planner->plans())
      plans.push_back(&plan);
  return plans;
}
