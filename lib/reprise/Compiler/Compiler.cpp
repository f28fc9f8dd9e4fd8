// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "Initializers.h"
#include "PlanFile.h"
#include "ProgramRun.h"
#include "Report.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Parallel.h"

using namespace mlir;

namespace reprise {

LogicalResult runPhases(ModuleOp module, std::optional<Phase> from, Phase to,
                        const PhaseOptions &options) {
  PassManager manager(module.getContext());
  if (from == Phase::Autodiff)
    buildVerifier(manager, *from, options);
  buildPhases(manager, from, to, options);
  return manager.run(module);
}

LogicalResult runPhases(ModuleOp module, Phase to, const PhaseOptions &options) {
  return runPhases(module, std::nullopt, to, options);
}

std::optional<Phase> findPhase(ModuleOp module) {
  return findPrograms(module).empty() ? std::nullopt : std::optional(Phase::Autodiff);
}

size_t countPrograms(ModuleOp module) { return std::max<size_t>(1, findPrograms(module).size()); }

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
/// What the programs of one target share.
struct TargetContext {
  CompileOptions options; ///< with that target
  std::shared_ptr<LaunchFacts> facts;
  CostModel costs;
};

/// One compilation, from phase to phase.
class Run {
public:
  Run(ModuleOp module, const CompileOptions &options)
      : module(module), options(options), phases(options.phases) {}

  FailureOr<Compilation> run();

private:
  FailureOr<TargetContext *> load(const std::string &target);
  LogicalResult differentiate();
  LogicalResult findRuns();
  LogicalResult forEachRun(function_ref<LogicalResult(ProgramRun &)> each);
  void loadDialects();
  LogicalResult checkProfile();
  LogicalResult plan();
  LogicalResult build();
  LogicalResult estimate();

  ModuleOp module;
  const CompileOptions &options;
  PhaseOptions phases;
  Phase after = Phase::Partition; ///< the last phase that the module has been through
  std::map<std::string, std::unique_ptr<TargetContext>> targets;
  std::vector<std::unique_ptr<ProgramRun>> runs; ///< by device
  Compilation compilation;
};
} // namespace

FailureOr<TargetContext *> Run::load(const std::string &target) {
  std::unique_ptr<TargetContext> &found = targets[target];
  if (found)
    return found.get();
  CompileOptions own = options;
  own.phases.target = target;
  std::shared_ptr<LaunchFacts> facts = target == phases.target ? phases.facts : nullptr;
  if (failed(LaunchFacts::load(target, module.getLoc(), facts)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, own);
  if (failed(costs))
    return failure();
  found.reset(new TargetContext{std::move(own), std::move(facts), std::move(*costs)});
  return found.get();
}

/// Up to `partition`, behind which programs are planned.
LogicalResult Run::differentiate() {
  after = std::max(options.after.value_or(Phase::Import), Phase::Partition);
  if (options.after >= Phase::Partition)
    return success();
  if (options.plan)
    phases.unroll |= isOfUnrolledModel(*options.plan);
  return runPhases(module, options.after, Phase::Partition, phases);
}

/// A run for each device program.
LogicalResult Run::findRuns() {
  SmallVector<func::FuncOp> programs = findPrograms(module);
  if (programs.empty())
    return module.emitError("expected a device program, a function with '") << kDeviceAttr << "'";
  llvm::stable_sort(programs,
                    [](func::FuncOp a, func::FuncOp b) { return *getDevice(a) < *getDevice(b); });
  for (auto [i, program] : llvm::enumerate(programs)) {
    if (*getDevice(program) != static_cast<int64_t>(i))
      return program.emitError(
                 "expected one program for each device from 0 on, got one for device ")
             << *getDevice(program) << " where " << i << " comes next";
    auto named = options.targets.find(static_cast<int64_t>(i));
    FailureOr<TargetContext *> target =
        load(named == options.targets.end() ? phases.target : named->second);
    if (failed(target))
      return failure();
    PhaseOptions own = phases;
    own.target = (*target)->options.phases.target;
    own.facts = (*target)->facts;
    runs.push_back(std::make_unique<ProgramRun>(program, (*target)->options, std::move(own),
                                                (*target)->costs));
  }
  return success();
}

/// The profile, if there is one, is of all programs.
LogicalResult Run::checkProfile() {
  auto programs = llvm::map_to_vector(runs, [](const auto &run) { return run->getProgram(); });
  return runs.front()->getCosts().checkModel(programs);
}

LogicalResult Run::plan() {
  bool isPlanned = options.budget || options.plan || options.keepPlan;
  if (!isPlanned || after > Phase::Partition)
    return success();
  return forEachRun([&](ProgramRun &run) {
    FailureOr<const llvm::json::Value *> file = nullptr;
    if (options.plan)
      file = findProgramPlan(module, run.getProgram(), runs.size(), *options.plan);
    return failure(failed(file) || failed(run.plan(*file)));
  });
}

/// Device programs are independent of each other.
LogicalResult Run::forEachRun(function_ref<LogicalResult(ProgramRun &)> each) {
  return forEachInParallel(*module.getContext(), runs.size(),
                           [&](size_t number) { return each(*runs[number]); });
}

/// Before programs are lowered in parallel.
void Run::loadDialects() {
  PassManager manager(module.getContext(), func::FuncOp::getOperationName());
  buildProgramPhases(manager, Phase::Partition, Phase::Memory, phases);
  DialectRegistry registry;
  manager.getDependentDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    module.getContext()->getOrLoadDialect(name);
}

LogicalResult Run::estimate() {
  for (auto &run : runs)
    if (failed(describeEstimate(run->getProgram(), *run->getPhases().facts, countThreads(options),
                                run->getCompiled().report)))
      return failure();
  return success();
}

/// One bundle of all programs. Its budget is the largest of them, where a share gives each its own.
LogicalResult Run::build() {
  std::vector<OwningOpRef<ModuleOp>> initializers;
  std::vector<BundlePrograms> devices;
  for (auto &run : runs) {
    ModuleOp own = *initializers.emplace_back(buildInitializers(run->getProgram()));
    if (failed(lowerInitializers(own, run->getPhases())))
      return failure();
    devices.push_back({run->getProgram(), own.lookupSymbol<func::FuncOp>("init_parameters"),
                       own.lookupSymbol<func::FuncOp>("init_inputs"),
                       &run->getPhases().facts->getTarget()});
  }
  FailureOr<runtime::Bundle> bundle = buildBundle(devices);
  if (failed(bundle))
    return failure();
  bundle->threads = countThreads(options);
  for (auto &run : runs) {
    bundle->hasBudget |= run->getBudget().has_value();
    bundle->budgetBytes = std::max<uint64_t>(bundle->budgetBytes, run->getBudget().value_or(0));
  }
  compilation.bundle = std::move(*bundle);
  for (auto &run : runs)
    describeBundle(compilation.bundle, run->getProgram(), run->getPhases().facts->getTarget(),
                   run->getCompiled().report);
  return success();
}

FailureOr<Compilation> Run::run() {
  if (failed(load(phases.target)) || failed(differentiate()) || failed(findRuns()) ||
      failed(checkProfile()))
    return failure();
  loadDialects();
  if (failed(plan()) || failed(forEachRun([&](ProgramRun &run) { return run.lower(after); })))
    return failure();
  if (failed(options.estimateOnly ? estimate() : build()))
    return failure();
  for (auto &run : runs) {
    if (failed(run->checkBudget()))
      return failure();
    compilation.programs.push_back(std::move(run->getCompiled()));
  }
  return std::move(compilation);
}

FailureOr<Compilation> compile(ModuleOp module, const CompileOptions &options) {
  return Run(module, options).run();
}

} // namespace reprise
