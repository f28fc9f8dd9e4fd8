// reprise: the registry of all targets
#include "reprise/Conversion/Targets.h"

#include "reprise/Conversion/Cpu/CpuBackend.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Wording.h"

using namespace mlir;

namespace reprise {
namespace {

struct AllTargets : TargetProvider {
  explicit AllTargets(Dialect *dialect) : TargetProvider(dialect) {}

  /// Emits the error about an unknown target. Another chip is no typing error, so only names with
  /// the same digits are suggested.
  static LogicalResult emitUnknown(StringRef name, Location location) {
    auto digits = [](StringRef text) {
      std::string kept;
      llvm::copy_if(text, std::back_inserter(kept), llvm::isDigit);
      return kept;
    };
    SmallVector<StringRef> alike;
    for (StringRef known : {"cpu:native", "cpu:x86-64-v3", "cpu:x86-64-v4", "cuda:sm_80",
                            "cuda:sm_90", "cuda:sm_100", "cuda:sm_80+sm_90"})
      if (digits(known) == digits(name))
        alike.push_back(known);
    InFlightDiagnostic error = emitError(location) << "unknown target '" << name << "', ";
    if (std::string nearest = findNearest(name, alike); !nearest.empty())
      return error << "did you mean '" << nearest << "'?";
    return error
           << "expected cpu, cpu:native, cpu:x86-64-v3, cpu:x86-64-v4 or a GPU from cuda:sm_80 "
              "on, or several such as cuda:sm_80+sm_90";
  }

  LogicalResult find(StringRef name, Location location,
                     std::shared_ptr<const Target> &target) const override {
    auto [device, machine] = name.split(':');
    auto [chips, rest] = machine.split(':');
    auto [first, behind] = rest.split(':');
    bool hasCubins = first == "cubin";
    std::optional<Contractions> kind = CudaBackend::parseContractions(hasCubins ? behind : rest);
    if (device == "cuda" && kind && CudaBackend::hasChips(chips)) {
      if (hasCubins && !CudaBackend::hasAssembler())
        return emitError(location, "target '")
               << name
               << "' needs ptxas, which is neither in PATH nor in a CUDA toolkit (CUDA_HOME); "
                  "without ':cubin' the target does not need ptxas";
      target = std::make_shared<CudaBackend>(chips, *kind, hasCubins);
      return success();
    }
    if (device != "cpu")
      return emitUnknown(name, location);
    llvm::Expected<CpuTarget> cpu = CpuTarget::get(machine.empty() ? "native" : machine);
    if (!cpu)
      return emitError(location, llvm::toString(cpu.takeError()));
    target = std::make_shared<CpuBackend>(*cpu);
    return success();
  }
};

} // namespace

void registerTargets(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, RepriseDialect *dialect) { dialect->addInterfaces<AllTargets>(); });
}

} // namespace reprise
