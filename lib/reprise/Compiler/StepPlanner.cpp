// reprise: plans of a step in one form, which hold budgets of bytes in the packed program
#include "StepPlanner.h"

#include "Report.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/Transforms/Launches.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Problem/Validate.h"
#include "llvm/Support/Threading.h"

#include <chrono>

using namespace mlir;
using namespace reprise;
using checkpoint::BudgetPlanner;
using checkpoint::Choice;
using checkpoint::Plan;

/// Time for bounds and first plans after the limit: a share of the limit, but at least some
/// seconds.
static constexpr double kMoreShare = 0.2, kMoreSeconds = 1;

unsigned reprise::countThreads(const CompileOptions &options) {
  return options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
}

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

checkpoint::BudgetOptions reprise::startClock(const CompileOptions &options) {
  checkpoint::BudgetOptions search;
  search.isOver = search.isLate = options.isCancelled;
  if (!options.timeLimitSeconds)
    return search;
  auto endAfter = [&, begin = std::chrono::steady_clock::now()](double seconds) {
    auto end = begin + std::chrono::duration<double>(seconds);
    return [end, isCancelled = options.isCancelled] {
      return std::chrono::steady_clock::now() >= end || (isCancelled && isCancelled());
    };
  };
  double limit = *options.timeLimitSeconds;
  search.isOver = endAfter(limit);
  search.isLate = endAfter(limit + std::max(kMoreSeconds, kMoreShare * limit));
  return search;
}

PlanContext::PlanContext(const CompileOptions &options, std::shared_ptr<LaunchFacts> facts,
                         const CostModel &costs)
    : options(options), facts(std::move(facts)), costs(costs), search(startClock(options)) {}

bool StepPlanner::isLate() {
  bool isNow = context.isLate();
  wasCut |= isNow;
  return isNow;
}

StepPlanner::StepPlanner(func::FuncOp step, const PlanContext &context, StepPlan shape)
    : step(step), context(context), shape(std::move(shape)) {}

/// Finds arena and workspace of the program that the choices make.
LogicalResult StepPlanner::pack(StepPlan &plan, Labels labels) {
  if (!plan.choices.empty())
    writeChoices(*scope, plan.choices);
  OwningOpRef<ModuleOp> copy = copyAlone(step);
  if (scope)
    clearChoices(*scope);
  if (labels == Labels::Dropped)
    dropLabels(*copy);
  PassManager manager(step.getContext());
  PhaseOptions phases = context.options.phases;
  phases.facts = context.facts;
  phases.form = {};
  phases.form.enoughArena = plan.form.enoughArena;
  buildPhases(manager, Phase::Partition, Phase::Memory, phases);
  if (failed(manager.run(*copy)))
    return failure();
  func::FuncOp program = getAlone(*copy);
  FailureOr<int64_t> worker = context.facts->findWorkerBytes(program);
  if (failed(worker))
    return failure();
  plan.arena = *exec::getArenaBytes(program);
  plan.isReordered = !plan.order.empty() || program->hasAttr("exec.launches_moved");
  plan.workspace = countThreads(context.options) * *worker;
  plan.programSeconds = 0;
  program.walk([&](exec::LaunchOp launch) {
    plan.programSeconds += countLaunchSeconds(launch, context.costs);
  });
  return success();
}

LogicalResult StepPlanner::packAndKeep(StepPlan plan, int64_t enough) {
  plan.form.enoughArena = enough;
  if (failed(pack(plan)))
    return failure();
  packed.push_back(std::move(plan));
  return success();
}

LogicalResult StepPlanner::survey(std::optional<double> plainSeconds) {
  scope = findJointScope(step);
  if (scope) {
    FailureOr<checkpoint::Footprint> found =
        findFootprint(*scope, step, *context.facts, context.costs, &links);
    if (failed(found))
      return failure();
    footprint = std::move(*found);
    if (auto defect = checkpoint::validate(scope->problem, footprint))
      return step.emitError("internal error in the cost model: ") << defect->message;
    planner = std::make_unique<BudgetPlanner>(scope->problem, footprint, context.search);
  }
  double bare = findStepSeconds(step, *context.facts, context.costs);
  if (scope) {
    std::vector<Choice> all(scope->problem.values.size(), Choice::Save);
    bare -= checkpoint::Meter(scope->problem, footprint).measure(all, 0).seconds;
    cheapest = checkpoint::findBound(scope->problem, footprint, INT64_MAX, 4, context.search.isLate)
                   .seconds;
  }
  base = plainSeconds.value_or(bare);
  added = bare - base;
  shape.seconds = added;
  return success();
}

void StepPlanner::forget(bool keepsFollowed) {
  if (isPacked() && !keepsFollowed)
    kept = packed.front();
  packed.resize(keepsFollowed && isPacked());
  if (scope)
    planner->forget();
  ordered.reset();
  reorderedFor = -1;
  hasDescended = false;
}

LogicalResult StepPlanner::packFollowed() {
  if (isPacked())
    return success();
  if (kept) {
    packed.push_back(*kept);
    return success();
  }
  StepPlan followed = shape;
  if (scope)
    followed.seconds += planner->followed().usage.seconds;
  if (failed(packAndKeep(std::move(followed), 0)))
    return failure();
  // Bodies obey labels, too, of which the footprint knows nothing.
  if (hasLoops() && !shape.form.hasBodies)
    addSeconds(packed.front().programSeconds - base - packed.front().seconds);
  return success();
}

void StepPlanner::addSeconds(double seconds) {
  added += seconds;
  shape.seconds += seconds;
  for (StepPlan &plan : packed)
    plan.seconds += seconds;
}

double StepPlanner::price(const std::vector<Choice> &choices) const {
  if (choices.empty())
    return followed().seconds;
  return added + checkpoint::Meter(scope->problem, footprint).measure(choices, 0).seconds;
}

FailureOr<int64_t> StepPlanner::packSaveAll() {
  StepPlan all = shape;
  if (scope)
    all.choices.assign(scope->problem.values.size(), Choice::Save);
  if (failed(pack(all, Labels::Dropped)))
    return failure();
  return all.bytes();
}

StepPlan StepPlanner::describe(const Plan &plan) const {
  StepPlan described = shape;
  described.choices = plan.choices;
  described.peak = plan.usage.peak;
  described.overridden = plan.overridden;
  described.seconds += plan.usage.seconds;
  return described;
}

/// A plan of a peak of `goal` bytes, if there is one.
std::optional<StepPlan> StepPlanner::propose(int64_t goal) {
  if (!scope)
    return std::nullopt;
  std::optional<Plan> plan = planner->plan(goal);
  wasCut |= planner->isTruncated();
  if (!plan)
    return std::nullopt;
  return describe(*plan);
}

bool StepPlanner::hasLoops() const {
  return !func::FuncOp(step).getBody().front().getOps<LoopOp>().empty();
}

bool StepPlanner::keepsOrder() const { return reprise::keepsOrder(step); }

LogicalResult StepPlanner::packReordered(int64_t budget) {
  if (followed().bytes() <= budget || reorderedFor == budget || !shape.order.empty())
    return success();
  if (isLate())
    return success();
  reorderedFor = budget;
  StepPlan reordered = followed();
  reordered.form.enoughArena = std::max<int64_t>(1, budget - followed().workspace);
  if (failed(pack(reordered)))
    return failure();
  packed.push_back(std::move(reordered));
  return success();
}

/// Whether a budget that the plan of the labels fits leaves nothing to look for.
bool StepPlanner::isCheapest(const StepPlan &followed) const {
  return followed.seconds <= added + cheapest || !planner->isOpen();
}

/// A plan is made for a peak of live bytes, the goal. Where its program takes more than the budget,
/// the excess is taken off the next goal, or half of it where no plan has so low a peak; where the
/// program takes less than its peak, the goal is raised by that, once.
LogicalResult StepPlanner::search(int64_t budget) {
  if (failed(packFollowed()))
    return failure();
  if (followed().bytes() <= budget && isCheapest(followed()))
    return success();
  int64_t room = budget - followed().workspace, goal = room;
  if (failed(packReordered(budget)))
    return failure();
  int64_t peak = 0; // of the last plan
  bool isRaised = false;
  for (int round = 0; round < kMostRounds && (round == 0 || !isLate()); ++round) {
    std::optional<StepPlan> proposed = propose(goal);
    if (!proposed && peak - goal > peak / kWorthARound) {
      goal += (peak - goal) / 2; // another plan may pack better than the last one
      continue;
    }
    if (!proposed)
      break;
    peak = proposed->peak;
    if (failed(packAndKeep(std::move(*proposed), std::max<int64_t>(1, room))))
      return failure();
    const StepPlan &latest = packed.back();
    bool fits = latest.bytes() <= budget;
    bool isLower = latest.peak - latest.arena > latest.peak / kWorthARound;
    if (fits && (isRaised || !isLower))
      return success();
    goal = std::min(goal, latest.peak) - (latest.bytes() - budget);
    isRaised |= fits;
  }
  return success();
}

LogicalResult StepPlanner::packSmaller() {
  if (failed(packFollowed()) || !scope || std::exchange(hasDescended, true))
    return success(isPacked());
  if (descents.empty() && (failed(descend()) || failed(packSmallerOrders())))
    return failure();
  llvm::append_range(packed, descents);
  return success();
}

int64_t StepPlanner::leastBytes() const {
  int64_t least = isPacked() ? followed().bytes() : INT64_MAX;
  for (const StepPlan &plan : descents)
    least = std::min(least, plan.bytes());
  return least;
}

LogicalResult StepPlanner::descend() {
  const checkpoint::Descent &descent = planner->descend();
  for (const checkpoint::Plan &plan : llvm::drop_begin(descent.plans)) {
    if (&plan != &descent.plans.back() && isLate())
      continue;
    descents.push_back(describe(plan));
    if (failed(pack(descents.back())))
      return failure();
  }
  wasCut |= descent.isTruncated;
  return success();
}

/// Packs the smallest plan of the descent, or the plan of the labels, in orders of the launches
/// that take fewer and fewer bytes. Plans for a budget have no part in this, so that each budget
/// has the same orders.
LogicalResult StepPlanner::packSmallerOrders() {
  if (keepsOrder())
    return success();
  auto isSmaller = [](const StepPlan &a, const StepPlan &b) { return a.bytes() < b.bytes(); };
  StepPlan plan = followed();
  if (auto least = llvm::min_element(descents, isSmaller);
      least != descents.end() && isSmaller(*least, plan))
    plan = *least;
  for (int64_t before = INT64_MAX; plan.arena < before && !isLate();) {
    before = plan.arena;
    StepPlan next = plan;
    next.form.enoughArena = before - std::max<int64_t>(1, before / kOrderSteps);
    if (failed(pack(next)))
      return failure();
    descents.push_back(next);
    plan = isSmaller(next, plan) ? next : plan;
  }
  return success();
}

LogicalResult StepPlanner::searchBelow(int64_t budget) {
  int64_t low = 0, high = budget - followed().workspace;
  for (const StepPlan &plan : packed)
    if (plan.bytes() <= budget)
      low = std::max(low, plan.peak);
  for (int round = 0; round < kMostRounds && high - low > low / kWorthARound; ++round) {
    int64_t goal = low + (high - low) / 2;
    std::optional<StepPlan> proposed = propose(goal);
    if (!proposed) {
      low = goal;
      continue;
    }
    if (failed(
            packAndKeep(std::move(*proposed), std::max<int64_t>(1, budget - followed().workspace))))
      return failure();
    (packed.back().bytes() <= budget ? low : high) = goal;
  }
  return success();
}

double StepPlanner::findLeastSeconds(int64_t room) const {
  if (!scope)
    return added;
  checkpoint::Bound bound =
      checkpoint::findBound(scope->problem, footprint, room, 4, context.search.isLate);
  return bound.isFeasible ? added + bound.seconds : std::numeric_limits<double>::infinity();
}

double StepPlanner::findAnyOrderSeconds(int64_t room) const {
  if (!scope)
    return added;
  return added +
         findAnyOrderBound(scope->problem, footprint, room, 4, context.search.isLate).seconds;
}

double StepPlanner::findBound(int64_t room, const StepPlan &plan) const {
  // The joint bound takes a tenth of a second for a thousand ops, and is seldom needed.
  static constexpr double kWideGap = 0.005;
  if (plan.isReordered || !scope)
    return findAnyOrderSeconds(room);
  const IsOver &isLate = context.search.isLate;
  double all = added + checkpoint::findBound(scope->problem, footprint, room, 4, isLate).seconds;
  if (plan.seconds - all <= kWideGap * base)
    return all;
  double known = plan.seconds - added;
  return std::max(all, added + findJointBound(scope->problem, footprint, room, known, 60, isLate));
}

int64_t StepPlanner::findProvedArena(int64_t room) const {
  if (!scope)
    return 0;
  int64_t missing =
      findAnyOrderBound(scope->problem, footprint, room, 4, context.search.isLate).missing;
  return missing > 0 ? room + missing : 0;
}

Operation *StepPlanner::findNeediest() const {
  if (!scope)
    return step;
  int launch = planner->smallest().usage.peakLaunch;
  exec::LaunchNumbers numbers = exec::numberLaunches(step, context.facts->getTarget());
  for (Operation &op : func::FuncOp(step).getBody().front())
    if (numbers.of.lookup_or(&op, -1) == launch)
      return &op;
  return step;
}
