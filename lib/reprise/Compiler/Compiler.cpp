// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "Initializers.h"
#include "Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Conversion/ExecToBundle.h"
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
static LogicalResult lowerInitializers(ModuleOp module, const std::string &target) {
  PhaseOptions options;
  options.target = target;
  return runPhases(module, Phase::Checkpoint, Phase::Memory, options);
}

static FailureOr<CostModel> loadCosts(ModuleOp module, const CompileOptions &options) {
  CostSources sources = options.costs;
  sources.target = options.phases.target;
  sources.threads = options.threads;
  return CostModel::load(sources, module.getLoc());
}

FailureOr<Compilation> compile(ModuleOp module, const CompileOptions &options) {
  std::shared_ptr<const Target> target;
  if (failed(Target::get(options.phases.target, module.getLoc(), target)))
    return failure();
  FailureOr<CostModel> costs = loadCosts(module, options);
  if (failed(costs))
    return failure();
  if (failed(runPhases(module, options.after, Phase::Checkpoint, options.phases)))
    return failure();
  auto steps = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(steps))
    return module.emitError("expected one function, the entry");
  func::FuncOp step = *steps.begin();
  if (failed(costs->check(step)))
    return failure();
  // The report speaks of values, which the launches swallow.
  Compilation compilation;
  if (options.after.value_or(Phase::Checkpoint) <= Phase::Checkpoint)
    compilation.report = describePlan(step, *costs);
  Phase planned = std::max(options.after.value_or(Phase::Checkpoint), Phase::Checkpoint);
  if (failed(runPhases(module, planned, Phase::Memory, options.phases)))
    return failure();
  describeFusion(step, compilation.report);
  describeCosts(step, *costs, compilation.report);
  compilation.report["buffers"] = describeTimeline(step);
  OwningOpRef<ModuleOp> initializers = buildInitializers(step);
  if (failed(lowerInitializers(*initializers, options.phases.target)))
    return failure();
  BundlePrograms programs{step, initializers->lookupSymbol<func::FuncOp>("init_parameters"),
                          initializers->lookupSymbol<func::FuncOp>("init_inputs")};
  FailureOr<runtime::Bundle> bundle = buildBundle(programs, *target);
  if (failed(bundle))
    return failure();
  bundle->threads =
      options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
  compilation.bundle = std::move(*bundle);
  describeBundle(compilation.bundle, compilation.report);
  return compilation;
}

} // namespace reprise
