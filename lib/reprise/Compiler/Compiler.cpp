// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "Initializers.h"
#include "PlanFile.h"
#include "Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

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
  LogicalResult findStep();
  LogicalResult plan();
  LogicalResult planWithin(const Budget &budget);
  LogicalResult refuse(ProgramPlanner &planner, int64_t budget);
  FailureOr<StepPlan> readPlan();
  LogicalResult lower();
  LogicalResult build();
  LogicalResult checkBudget();

  ModuleOp module;
  const CompileOptions &options;
  PhaseOptions phases;
  std::optional<Phase> after; ///< the last phase that the module has been through
  std::optional<CostModel> costs;
  std::optional<BudgetOutcome> outcome;
  std::optional<int64_t> budgetBytes;
  func::FuncOp step;
  Compilation compilation;
};
} // namespace

LogicalResult Run::findStep() {
  auto steps = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(steps))
    return module.emitError("expected one function, the entry");
  step = *steps.begin();
  return success();
}

/// A plan that was packed for one budget may be missed when its own bytes are the budget, so what
/// the error names is asked for first.
LogicalResult Run::refuse(ProgramPlanner &planner, int64_t budget) {
  int64_t feasible = planner.smallestBytes();
  while (!options.timeLimitSeconds) {
    planner.forget();
    FailureOr<std::optional<BudgetOutcome>> found = planner.plan(feasible);
    if (failed(found))
      return failure();
    if (*found)
      break;
    feasible = planner.smallestBytes();
  }
  return planner.emitTooSmall(budget, feasible);
}

LogicalResult Run::planWithin(const Budget &budget) {
  ProgramPlanner planner(step, options, phases.facts, *costs);
  if (failed(planner.start()))
    return failure();
  FailureOr<int64_t> bytes = planner.resolve(budget);
  if (failed(bytes))
    return failure();
  budgetBytes = *bytes;
  FailureOr<std::optional<BudgetOutcome>> found = planner.plan(*bytes);
  if (failed(found))
    return failure();
  if (!*found)
    return refuse(planner, *bytes);
  outcome = std::move(*found);
  return success();
}

/// The plan of the options. What a share is of only the packed program can tell.
FailureOr<StepPlan> Run::readPlan() {
  if (options.budget && !budgetBytes) {
    ProgramPlanner planner(step, options, phases.facts, *costs);
    if (failed(planner.start()))
      return failure();
    FailureOr<int64_t> bytes = planner.resolve(*options.budget);
    if (failed(bytes))
      return failure();
    budgetBytes = *bytes;
  }
  return readPlanFile(step, *options.plan);
}

/// Up to `autodiff`, and the form and the choices of a plan.
LogicalResult Run::plan() {
  bool isPlanned = options.budget || options.plan || options.keepPlan;
  if (!isPlanned || after.value_or(Phase::Import) > Phase::Autodiff)
    return success();
  if (options.plan)
    phases.unroll |= isOfUnrolledModel(*options.plan);
  if (failed(runPhases(module, after, Phase::Autodiff, phases)) || failed(findStep()))
    return failure();
  after = Phase::Autodiff;
  StepPlan plan;
  if (options.plan) {
    FailureOr<StepPlan> read = readPlan();
    if (failed(read))
      return failure();
    plan = std::move(*read);
  } else if (options.budget) {
    if (failed(planWithin(*options.budget)))
      return failure();
    plan = outcome->plan;
  }
  if (failed(applyPlan(step, plan)))
    return failure();
  phases.form.enoughArena = plan.form.enoughArena;
  if (options.keepPlan)
    compilation.plan = writePlanFile(step, plan, phases.unroll);
  return success();
}

/// To places in memory. The report speaks of values, which the launches swallow.
LogicalResult Run::lower() {
  if (failed(runPhases(module, after, Phase::Checkpoint, phases)) || failed(findStep()) ||
      failed(costs->check(step)))
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
  report.backwardLaunch = findBackwardLaunch(step);
  report.inputs = describeInputs(module, options.phases);
  return success();
}

LogicalResult Run::build() {
  unsigned threads = countThreads(options);
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
    return step.emitError("the step takes ")
           << taken << " bytes, which is more than the budget of " << *budgetBytes << " bytes";
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
