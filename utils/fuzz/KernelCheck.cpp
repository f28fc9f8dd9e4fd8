// reprise: compares the kernels of one program with the interpreter, on every CPU that this machine
// supports, or on its GPU
#include "Check.h"
#include "Child.h"
#include "Ops.h"
#include "Run.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Compiler.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Initial.h"
#include "reprise/Reference/Steps.h"

using namespace mlir;

namespace reprise::fuzz {
namespace {

constexpr StringLiteral kEntry = "train", kName = "reprise.name", kInit = "reprise.init",
                        kGpu = "cuda:sm_90:exact";

class KernelChecker {
public:
  KernelChecker(StringRef text, MLIRContext *context, std::optional<uint64_t> seed, bool onGpu)
      : text(text), context(context), random(seed.value_or(0)), seed(random.below(1000)),
        targets(runnableTargets()) {
    // Kernels take most of the time, and most faults occur on every CPU or on none.
    if (seed && random.chance(75))
      targets = {random.pick(runnableTargets())};
    if (onGpu)
      targets = {kGpu.str()};
  }

  Verdict run() {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostics += diagnostic.str() + "\n";
      return success();
    });
    module = parseSourceString<ModuleOp>(text, context);
    if (!module) {
      fail({"text", "it cannot be parsed: " + diagnostics});
      return verdict;
    }
    module->walk([&](Operation *op) {
      if (isa_and_nonnull<RepriseDialect>(op->getDialect()))
        verdict.generated.insert(op->getName().getStringRef().str());
    });
    if (interpretProgram() && takeValues())
      for (const std::string &target : targets)
        if (!runOn(target))
          break;
    return verdict;
  }

private:
  bool fail(const Failure &failure) {
    verdict.kind = failure.kind;
    verdict.details = failure.details;
    return false;
  }

  bool interpretProgram() {
    OwningOpRef<ModuleOp> copy = module->clone();
    if (failed(runPhases(*copy, Phase::Checkpoint, {})))
      return fail({"error", "interpreted: " + diagnostics});
    StepsOptions options;
    options.seed = seed;
    std::string error;
    FailureOr<StepsReport> report = interpretSteps(*copy, options, error);
    if (failed(report))
      return fail({"error", "interpreted: " + error + diagnostics});
    expected = {report->hash, report->next.offset};
    return true;
  }

  /// Gives the bundles the values of arguments, so that no code is generated to draw them: that
  /// code takes longer than all other.
  bool takeValues() {
    auto entry = module->lookupSymbol<func::FuncOp>(kEntry);
    for (BlockArgument argument : entry.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto name = entry.getArgAttrOfType<StringAttr>(i, kName);
      auto role = entry.getArgAttrOfType<StringAttr>(i, "reprise.role");
      Attribute init = entry.removeArgAttr(i, StringAttr::get(context, kInit));
      if (name && role && init)
        values.emplace_back(name.str(), initialValue(cast<RankedTensorType>(argument.getType()),
                                                     name, init, seed, 0, role == "input"));
    }
    return true;
  }

  bool runOn(const std::string &target) {
    OwningOpRef<ModuleOp> copy = module->clone();
    CompileOptions options;
    options.threads = 3;
    options.phases.target = target;
    FailureOr<Compilation> compilation = compile(*copy, options);
    if (failed(compilation))
      return fail({"error", target + ", compiled: " + diagnostics});
    if (target == kGpu)
      return runInOrders(compilation->bundle);
    for (unsigned threads : {1, 3}) {
      RunOptions run{target, threads, seed, 1, threads == 3, values};
      if (Failure failure = runBundle(compilation->bundle, run, expected))
        return fail(failure);
    }
    return true;
  }

  /// Runs in each order of the emulated driver, which reads the order once per process.
  bool runInOrders(const runtime::Bundle &bundle) {
    for (const char *order : {"forwards", "backwards", "shuffled"}) {
      Verdict one = inChild([&] {
        setenv("REPRISE_EMULATED_ORDER", order, true);
        // These checks need little memory, and a child has limited memory.
        setenv("REPRISE_EMULATED_MEMORY", "268435456", true);
        std::string name = kGpu.str() + ", " + order;
        Failure failure = runBundle(
            bundle, {name, 1, seed, 1, false, values, runtime::DeviceKind::Cuda}, expected);
        Verdict run;
        run.kind = failure.kind;
        run.details = failure.details;
        return run;
      });
      if (!one.kind.empty())
        return fail({one.kind, one.details});
    }
    return true;
  }

  StringRef text;
  MLIRContext *context;
  Random random;
  int64_t seed;
  std::vector<std::string> targets;
  OwningOpRef<ModuleOp> module;
  std::vector<std::pair<std::string, Tensor>> values;
  Outcome expected;
  Verdict verdict;
  std::string diagnostics;
};

} // namespace

Verdict checkKernels(StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  return KernelChecker(text, context, seed, false).run();
}

Verdict checkGpuKernels(StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  return KernelChecker(text, context, seed, true).run();
}

} // namespace reprise::fuzz
