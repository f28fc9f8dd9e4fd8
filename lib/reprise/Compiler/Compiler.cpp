// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "Initializers.h"
#include "Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "llvm/Support/Threading.h"

using namespace mlir;

namespace reprise {

LogicalResult runPhases(ModuleOp module, Phase to, const PhaseOptions &options) {
  PassManager manager(module.getContext());
  buildPhases(manager, std::nullopt, to, options);
  return manager.run(module);
}

/// Kernels and memory for functions that hold ops of one part only.
static LogicalResult lowerInitializers(ModuleOp module) {
  PassManager manager(module.getContext());
  buildPhases(manager, Phase::Checkpoint, Phase::Memory, {});
  return manager.run(module);
}

static FailureOr<CpuTarget> resolveTarget(ModuleOp module, StringRef name) {
  auto [device, level] = name.split(':');
  if (device != "cpu")
    return module.emitError("unknown target '") << name << "', expected cpu, cpu:native, cpu:x86-64-v3 or cpu:x86-64-v4";
  llvm::Expected<CpuTarget> target = CpuTarget::get(level.empty() ? "native" : level);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));
  return *target;
}

FailureOr<Compilation> compile(ModuleOp module, const CompileOptions &options) {
  FailureOr<CpuTarget> target = resolveTarget(module, options.target);
  if (failed(target))
    return failure();
  if (failed(runPhases(module, Phase::Checkpoint, options.phases)))
    return failure();
  auto step = *module.getOps<func::FuncOp>().begin();
  // The report speaks of values, which the launches swallow.
  Compilation compilation;
  compilation.report = describePlan(step);
  PassManager manager(module.getContext());
  buildPhases(manager, Phase::Checkpoint, Phase::Memory, options.phases);
  if (failed(manager.run(module)))
    return failure();
  compilation.report["buffers"] = describeTimeline(step);
  OwningOpRef<ModuleOp> initializers = buildInitializers(step);
  if (failed(lowerInitializers(*initializers)))
    return failure();
  BundlePrograms programs{step, initializers->lookupSymbol<func::FuncOp>("init_parameters"),
                          initializers->lookupSymbol<func::FuncOp>("init_inputs")};
  FailureOr<runtime::Bundle> bundle = buildBundle(programs, *target);
  if (failed(bundle))
    return failure();
  bundle->threads = options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
  compilation.bundle = std::move(*bundle);
  describeBundle(compilation.bundle, compilation.report);
  return compilation;
}

} // namespace reprise
