// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "Initializers.h"
#include "PlanFile.h"
#include "Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace reprise {

static LogicalResult runPhases(ModuleOp module, std::optional<Phase> from, Phase to,
                               const PhaseOptions &options) {
  PassManager manager(module.getContext());
  buildPhases(manager, from, to, options);
  return manager.run(module);
}

LogicalResult runPhases(ModuleOp module, Phase to, const PhaseOptions &options) {
  return runPhases(module, std::nullopt, to, options);
}

/// Kernels and memory for functions that hold ops of one part only.
static LogicalResult lowerInitializers(ModuleOp module, const PhaseOptions &phases) {
  PhaseOptions options;
  options.target = phases.target;
  options.facts = phases.facts;
  return runPhases(module, Phase::Checkpoint, Phase::Memory, options);
}

FailureOr<CostModel> loadCosts(ModuleOp module, const CompileOptions &options) {
  CostSources sources = options.costs;
  sources.target = options.phases.target;
  sources.threads = options.threads;
  return CostModel::load(sources, module.getLoc());
}

namespace {
/// One compilation, from phase to phase.
class Run {
public:
  Run(ModuleOp module, const CompileOptions &options)
      : module(module), options(options), phases(options.phases), after(options.after) {
    if (options.budget)
      budgetBytes = options.budget->bytes;
  }

  FailureOr<Compilation> run();

private:
  LogicalResult plan();
  LogicalResult planWithin(const Budget &budget);
  LogicalResult planOtherwise(const PhaseOptions &other);
  FailureOr<bool> tryPlan(const Budget &budget, bool isLast);
  FailureOr<std::optional<BudgetOutcome>> planDeferred(const StepPlanner &planner);
  LogicalResult readPlan();
  LogicalResult lower();
  LogicalResult build();
  LogicalResult checkBudget();

  ModuleOp module;
  const CompileOptions &options;
  PhaseOptions phases;
  std::optional<Phase> after; ///< the last phase that the module has been through
  std::optional<CostModel> costs;
  std::optional<BudgetOutcome> outcome;
  std::optional<int64_t> budgetBytes, saveAllBytes;
  Shortage shortage{INT64_MAX, INT64_MAX}; ///< of all that was tried
  double stepSeconds = 0;                  ///< of one execution of every op of the step at hand
  OwningOpRef<ModuleOp> source;   ///< before the phases, where loops may be unrolled for a budget
  OwningOpRef<ModuleOp> deferred; ///< with the choices of a plan, where a large gradient waits
  func::FuncOp step;
  Compilation compilation;
};
} // namespace

/// A loop is one op of a plan. So plans are also made for bodies that make their rows again, and,
/// where none fits, for the iterations one by one: the same bits.
LogicalResult Run::planWithin(const Budget &budget) {
  bool hasLoops = false;
  module.walk([&](LoopOp) { hasLoops = true; });
  bool hasOthers = hasLoops && source;
  PhaseOptions bodies = phases, unrolled = phases;
  bodies.recomputeBodies = unrolled.unroll = true;
  FailureOr<bool> isPlanned = tryPlan(budget, /*isLast=*/!hasOthers);
  if (failed(isPlanned) || !hasOthers || (outcome && outcome->plan.seconds == 0))
    return success(succeeded(isPlanned));
  int64_t saveAll = *saveAllBytes;
  if (failed(planOtherwise(bodies)) || (!outcome && failed(planOtherwise(unrolled))))
    return failure();
  outcome->saveAll = saveAll;
  return success();
}

/// Plans what the phases make of the step with other options, and keeps the cheaper plan. What the
/// other step takes longer, such as replays in bodies, any plan of it costs.
LogicalResult Run::planOtherwise(const PhaseOptions &other) {
  PhaseOptions known = std::exchange(phases, other);
  std::optional<BudgetOutcome> found = std::exchange(outcome, std::nullopt);
  OwningOpRef<ModuleOp> planned = module.clone(), copy = source->clone();
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  if (failed(runPhases(module, options.after, Phase::Autodiff, phases)))
    return failure();
  double seconds = stepSeconds;
  if (failed(tryPlan({budgetBytes, std::nullopt}, /*isLast=*/!found && other.unroll)))
    return failure();
  double added = std::max(0.0, std::exchange(stepSeconds, seconds) - seconds);
  if (outcome) {
    outcome->plan.seconds += added;
    outcome->bound += added;
    outcome->total = stepSeconds;
    outcome->hasBodies = other.recomputeBodies;
    outcome->isUnrolled = other.unroll;
    if (!found || outcome->plan.cost() < found->plan.cost())
      return success();
  }
  outcome = std::move(found);
  phases = known;
  module.getBodyRegion().takeBody(planned->getBodyRegion());
  return success();
}

/// True if a plan within the budget was found and written on the ops of the module. The last try
/// says what is missing.
FailureOr<bool> Run::tryPlan(const Budget &budget, bool isLast) {
  StepPlanner planner(module, options, phases.facts, *costs);
  if (failed(planner.start()))
    return failure();
  budgetBytes = planner.resolve(budget);
  saveAllBytes = planner.saveAllBytes();
  stepSeconds = planner.stepSeconds();
  FailureOr<std::optional<BudgetOutcome>> waiting = planDeferred(planner);
  if (failed(waiting))
    return failure();
  outcome = std::move(*waiting);
  FailureOr<bool> mayBeat = true;
  if (outcome)
    mayBeat = planner.mayBeat(outcome->plan, *budgetBytes);
  if (failed(mayBeat))
    return failure();
  if (*mayBeat) {
    FailureOr<std::optional<BudgetOutcome>> found = planner.plan(*budgetBytes);
    if (failed(found))
      return failure();
    if (*found && (!outcome || (*found)->plan.cost() <= outcome->plan.cost())) {
      outcome = std::move(*found);
      planner.apply(outcome->plan);
    }
  }
  if (!outcome) {
    Shortage own = planner.findShortage(*budgetBytes);
    shortage = {std::min(shortage.least, own.least), std::min(shortage.proved, own.proved)};
    if (isLast)
      return planner.emitTooSmall(*budgetBytes, shortage);
    return false;
  }
  phases.deferGradient = outcome->isDeferred;
  if (outcome->isDeferred)
    module.getBodyRegion().takeBody(deferred->getBodyRegion());
  phases.enoughArena = outcome->plan.enoughArena;
  return true;
}

/// Where a large gradient waits, plans may be cheaper: another order, the same bits. Null where
/// nothing waits that is worth it, or no plan was found; else `deferred` has the plan's choices.
FailureOr<std::optional<BudgetOutcome>> Run::planDeferred(const StepPlanner &planner) {
  const StepPlan &followed = planner.followed();
  if (followed.seconds == 0 && followed.bytes() <= *budgetBytes)
    return std::optional<BudgetOutcome>();
  deferred = deferLargeGradient(module, followed.arena);
  if (!deferred)
    return std::optional<BudgetOutcome>();
  StepPlanner other(*deferred, options, phases.facts, *costs, &planner);
  if (failed(other.start(/*needsSaveAll=*/false)))
    return failure();
  FailureOr<std::optional<BudgetOutcome>> found = other.plan(*budgetBytes);
  if (failed(found) || !*found)
    return found;
  (*found)->saveAll = *saveAllBytes;
  (*found)->isDeferred = true;
  other.apply((*found)->plan);
  return found;
}

/// Takes the choices of a plan. What a share of is only the packed program can tell.
LogicalResult Run::readPlan() {
  if (options.budget && !budgetBytes) {
    StepPlanner planner(module, options, phases.facts, *costs);
    if (failed(planner.start()))
      return failure();
    budgetBytes = planner.resolve(*options.budget);
  }
  FailureOr<int64_t> enough = readPlanFile(module, *options.plan);
  if (failed(enough))
    return failure();
  phases.enoughArena = *enough;
  return success();
}

/// Up to `autodiff`, and the choices of a plan or for a budget.
LogicalResult Run::plan() {
  bool isPlanned = options.budget || options.plan || options.keepPlan;
  if (!isPlanned || after.value_or(Phase::Import) > Phase::Autodiff)
    return success();
  if (options.plan)
    readPhases(*options.plan, phases);
  if (options.budget && !options.plan && !phases.unroll &&
      after.value_or(Phase::Import) < Phase::Label)
    source = module.clone();
  if (failed(runPhases(module, after, Phase::Autodiff, phases)))
    return failure();
  after = Phase::Autodiff;
  if (!llvm::hasSingleElement(module.getOps<func::FuncOp>()))
    return module.emitError("expected one function, the entry");
  if (options.plan ? failed(readPlan()) : options.budget && failed(planWithin(*options.budget)))
    return failure();
  if (options.keepPlan)
    compilation.plan = writePlanFile(module, phases);
  return success();
}

/// To places in memory. The report speaks of values, which the launches swallow.
LogicalResult Run::lower() {
  if (failed(runPhases(module, after, Phase::Checkpoint, phases)))
    return failure();
  auto steps = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(steps))
    return module.emitError("expected one function, the entry");
  step = *steps.begin();
  if (failed(costs->check(step)))
    return failure();
  Report &report = compilation.report;
  if (after.value_or(Phase::Checkpoint) <= Phase::Checkpoint)
    report.plan = describePlan(step, *costs);
  if (outcome)
    report.budget = describeBudget(*outcome);
  else if (budgetBytes)
    report.budget = ReportedBudget{*budgetBytes, std::nullopt};
  Phase planned = std::max(after.value_or(Phase::Checkpoint), Phase::Checkpoint);
  if (failed(runPhases(module, planned, Phase::Memory, phases)))
    return failure();
  if (report.plan)
    describeFusion(step, *report.plan);
  describeCosts(step, *costs, report);
  report.buffers = describeTimeline(step);
  return success();
}

LogicalResult Run::build() {
  unsigned threads =
      options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
  if (options.estimateOnly)
    return describeEstimate(step, *phases.facts, threads, compilation.report);
  OwningOpRef<ModuleOp> initializers = buildInitializers(step);
  if (failed(lowerInitializers(*initializers, phases)))
    return failure();
  BundlePrograms programs{step, initializers->lookupSymbol<func::FuncOp>("init_parameters"),
                          initializers->lookupSymbol<func::FuncOp>("init_inputs")};
  FailureOr<runtime::Bundle> bundle = buildBundle(programs, phases.facts->getTarget());
  if (failed(bundle))
    return failure();
  bundle->threads = threads;
  bundle->hasBudget = budgetBytes.has_value();
  bundle->budgetBytes = budgetBytes.value_or(0);
  compilation.bundle = std::move(*bundle);
  describeBundle(compilation.bundle, compilation.report);
  return success();
}

/// What is written down keeps the promise, whatever was predicted.
LogicalResult Run::checkBudget() {
  if (!budgetBytes || options.estimateOnly) // an estimate tells that it does not fit
    return success();
  int64_t taken = compilation.report.arenaBytes + compilation.report.workspaceBytes;
  if (taken > *budgetBytes)
    return step.emitError("the step takes ") << taken << " bytes, more than " << *budgetBytes;
  return success();
}

FailureOr<Compilation> Run::run() {
  if (failed(LaunchFacts::load(phases.target, module.getLoc(), phases.facts)))
    return failure();
  FailureOr<CostModel> loaded = loadCosts(module, options);
  if (failed(loaded))
    return failure();
  costs = std::move(*loaded);
  if (failed(plan()) || failed(lower()) || failed(build()) || failed(checkBudget()))
    return failure();
  return std::move(compilation);
}

FailureOr<Compilation> compile(ModuleOp module, const CompileOptions &options) {
  return Run(module, options).run();
}

} // namespace reprise
