// reprise: plans of a step that hold budgets of bytes in the packed program
#include "StepPlanner.h"

#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/Transforms/DeferGradient.h"
#include "llvm/Support/Threading.h"

#include <chrono>

using namespace mlir;
using namespace reprise;
using checkpoint::BudgetPlanner;
using checkpoint::Choice;
using checkpoint::Plan;

OwningOpRef<ModuleOp> reprise::deferLargeGradient(ModuleOp module, int64_t arena) {
  static constexpr int64_t worthwhile = 16; // a part of the arena
  OwningOpRef<ModuleOp> copy = module.clone();
  if (deferGradient(*copy->getOps<func::FuncOp>().begin()) < arena / worthwhile)
    return nullptr;
  return copy;
}

StepPlanner::StepPlanner(ModuleOp module, const CompileOptions &options,
                         std::shared_ptr<LaunchFacts> facts, const CostModel &costs,
                         const StepPlanner *clock)
    : module(module), options(options), facts(std::move(facts)), costs(costs),
      threads(options.threads ? options.threads
                              : llvm::hardware_concurrency().compute_thread_count()),
      step(*module.getOps<func::FuncOp>().begin()) {
  if (clock) {
    searchOptions.isOver = clock->searchOptions.isOver;
  } else if (options.timeLimitSeconds) {
    auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(*options.timeLimitSeconds);
    searchOptions.isOver = [end] { return std::chrono::steady_clock::now() >= end; };
  }
}

void StepPlanner::apply(const StepPlan &plan) const {
  for (auto [entry, list] : llvm::zip(planned, plan.choices))
    if (!list.empty())
      writeChoices(entry.scope, list);
}

/// Finds arena and workspace of the program that the choices make.
LogicalResult StepPlanner::pack(StepPlan &plan, Labels labels) {
  apply(plan);
  OwningOpRef<ModuleOp> copy = module.clone();
  for (const Planned &entry : planned)
    clearChoices(entry.scope);
  if (labels == Labels::Dropped)
    dropLabels(*copy);
  PassManager manager(module.getContext());
  PhaseOptions phases = options.phases;
  phases.facts = facts;
  phases.enoughArena = plan.enoughArena;
  buildPhases(manager, Phase::Autodiff, Phase::Memory, phases);
  if (failed(manager.run(*copy)))
    return failure();
  func::FuncOp program = *copy->getOps<func::FuncOp>().begin();
  FailureOr<int64_t> worker = facts->findWorkerBytes(program);
  if (failed(worker))
    return failure();
  plan.arena = program->getAttrOfType<IntegerAttr>("exec.arena_bytes").getInt();
  plan.isReordered = program->hasAttr("exec.launches_moved");
  plan.workspace = threads * *worker;
  return success();
}

LogicalResult StepPlanner::packAndKeep(StepPlan plan, int64_t enough) {
  ++rounds;
  plan.enoughArena = enough;
  if (failed(pack(plan)))
    return failure();
  packed.push_back(std::move(plan));
  return success();
}

LogicalResult StepPlanner::start(bool needsSaveAll) {
  for (PlanningScope &scope : findPlanningScopes(step)) {
    FailureOr<checkpoint::Footprint> footprint = findFootprint(scope, step, *facts, costs);
    if (failed(footprint))
      return failure();
    planned.push_back({std::move(scope), std::move(*footprint), nullptr});
  }
  for (Planned &entry : planned)
    entry.planner =
        std::make_unique<BudgetPlanner>(entry.scope.problem, entry.footprint, searchOptions);
  total = findStepSeconds(step, *facts, costs);
  StepPlan followed, all;
  for (const Planned &entry : planned) {
    followed.choices.emplace_back();
    followed.seconds += entry.planner->followed().usage.seconds;
    all.choices.emplace_back(entry.scope.problem.values.size(), Choice::Save);
  }
  if (failed(packAndKeep(std::move(followed), 0)))
    return failure();
  if (needsSaveAll && failed(pack(all, Labels::Dropped)))
    return failure();
  saveAll = all.bytes();
  return success();
}

int64_t StepPlanner::resolve(const Budget &budget) const {
  return budget.bytes ? *budget.bytes
                      : static_cast<int64_t>(*budget.share * static_cast<double>(saveAll));
}

/// Plans of a peak of `goal` bytes in each scope; none if one has none.
std::optional<StepPlan> StepPlanner::propose(int64_t goal) {
  StepPlan proposed;
  for (Planned &entry : planned) {
    std::optional<Plan> plan = entry.planner->plan(goal);
    isTruncated |= entry.planner->isTruncated();
    if (!plan)
      return std::nullopt;
    proposed.choices.push_back(plan->choices);
    proposed.peak = std::max(proposed.peak, plan->usage.peak);
    proposed.overridden += plan->overridden;
    proposed.seconds += plan->usage.seconds;
  }
  return proposed;
}

/// The cheapest one that fits; null if none does.
const StepPlan *StepPlanner::findBest(int64_t budget) const {
  const StepPlan *best = nullptr;
  for (const StepPlan &plan : packed)
    if (plan.bytes() <= budget && (!best || plan.cost() < best->cost()))
      best = &plan;
  return best;
}

FailureOr<bool> StepPlanner::mayBeat(const StepPlan &other, int64_t budget) {
  if (failed(packReordered(budget)))
    return failure();
  double bound = 0;
  for (const Planned &entry : planned)
    bound +=
        checkpoint::findBound(entry.scope.problem, entry.footprint, budget - followed().workspace)
            .seconds;
  const StepPlan *best = findBest(budget);
  return other.overridden > 0 || bound < other.seconds || (best && best->cost() < other.cost());
}

/// Another order of the launches costs nothing, which may be cheaper than replays.
LogicalResult StepPlanner::packReordered(int64_t budget) {
  if (followed().bytes() <= budget || reorderedFor == budget)
    return success();
  reorderedFor = budget;
  StepPlan reordered = followed();
  reordered.enoughArena = std::max<int64_t>(1, budget - followed().workspace);
  if (failed(pack(reordered)))
    return failure();
  packed.push_back(std::move(reordered));
  return success();
}

/// Whether a budget that the plan of the labels fits leaves nothing to look for.
bool StepPlanner::isCheapest(const StepPlan &followed) const {
  return followed.seconds == 0 ||
         llvm::none_of(planned, [](const Planned &entry) { return entry.planner->isOpen(); });
}

/// A plan is made for a peak of live bytes. Where its program takes more than the budget, the next
/// one is made for so much less, or for half of that if there is none; where it takes less than was
/// reckoned, for so much more, once. At last the smallest one that was seen is packed.
LogicalResult StepPlanner::search(int64_t budget) {
  if (followed().bytes() <= budget && isCheapest(followed()))
    return success();
  int64_t room = budget - followed().workspace, goal = room;
  if (failed(packReordered(budget)))
    return failure();
  int64_t peak = 0; // of the last plan
  bool isRaised = false;
  for (int round = 0; round < kMostRounds; ++round) {
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
  if (findBest(budget))
    return success();
  return packSmallest();
}

/// Whatever the budget was, the same plan, so that what is said to be the smallest can be met.
LogicalResult StepPlanner::packSmallest() {
  StepPlan proposed;
  checkpoint::BudgetOptions options = searchOptions;
  options.effort = 0.25;
  for (const Planned &entry : planned) {
    BudgetPlanner planner(entry.scope.problem, entry.footprint, options);
    // In large steps first.
    int left = kMostDescents;
    for (int64_t part : {4, 16, 64})
      for (int64_t peak = INT64_MAX; planner.smallest().usage.peak < peak && left-- > 0;) {
        peak = planner.smallest().usage.peak;
        planner.plan(peak - std::max<int64_t>(1, peak / part));
      }
    const Plan &plan = planner.smallest();
    proposed.choices.push_back(plan.choices);
    proposed.overridden += plan.overridden;
    proposed.seconds += plan.usage.seconds;
  }
  return packAndKeep(std::move(proposed), 0);
}

FailureOr<std::optional<BudgetOutcome>> StepPlanner::plan(int64_t budget) {
  rounds = 0;
  if (failed(search(budget)))
    return failure();
  const StepPlan *best = findBest(budget);
  if (!best)
    return std::optional<BudgetOutcome>();
  BudgetOutcome outcome;
  outcome.budget = budget;
  outcome.saveAll = saveAll;
  outcome.plan = *best;
  outcome.rounds = rounds;
  outcome.total = total;
  outcome.isTruncated = isTruncated;
  outcome.bound = findBound(budget, *best);
  return std::optional(std::move(outcome));
}

double StepPlanner::findBound(int64_t budget, const StepPlan &plan) const {
  // The joint bound takes a tenth of a second for a thousand ops, and is seldom needed.
  static constexpr double kWideGap = 0.005;
  int64_t room = budget - plan.workspace;
  double all = 0, joint = 0;
  if (plan.isReordered) {
    for (const Planned &entry : planned)
      all += findAnyOrderBound(entry.scope.problem, entry.footprint, room).seconds;
    return all;
  }
  for (const Planned &entry : planned)
    all += checkpoint::findBound(entry.scope.problem, entry.footprint, room).seconds;
  if (plan.seconds - all <= kWideGap * total)
    return all;
  for (const Planned &entry : planned)
    joint += findJointBound(entry.scope.problem, entry.footprint, room, plan.seconds);
  return std::max(all, joint);
}

/// Of the two plans that every search packs: other budgets may miss what was packed on the way.
Shortage StepPlanner::findShortage(int64_t budget) const {
  const StepPlan &smallest = packed.back();
  const StepPlan &least = followed().bytes() < smallest.bytes() ? followed() : smallest;
  int64_t missing = 0;
  for (const Planned &entry : planned)
    missing = std::max(missing, checkpoint::findAnyOrderBound(entry.scope.problem, entry.footprint,
                                                              budget - least.workspace)
                                    .missing);
  return {least.bytes(), missing > 0 ? budget + missing : 0};
}

LogicalResult StepPlanner::emitTooSmall(int64_t budget, const Shortage &shortage) {
  Operation *at = step;
  int64_t most = -1;
  for (const Planned &entry : planned) {
    const checkpoint::Usage &usage = entry.planner->smallest().usage;
    auto found = llvm::find(entry.footprint.launches, usage.peakLaunch);
    if (usage.peak > most && found != entry.footprint.launches.end())
      at = entry.scope.ops[found - entry.footprint.launches.begin()];
    most = std::max(most, usage.peak);
  }
  InFlightDiagnostic error = at->emitError("the step does not fit in ")
                             << budget << " bytes: " << shortage.least - budget
                             << " are missing at " << describeOp(at)
                             << ", where the need is highest"
                             << (isTruncated ? ", when the time limit ended the search" : "");
  error.attachNote(step.getLoc()) << "the smallest feasible budget found is " << shortage.least
                                  << " bytes"
                                  << (shortage.proved > 0 ? "; no plan takes less than " : "")
                                  << (shortage.proved > 0 ? std::to_string(shortage.proved) : "");
  return error;
}
