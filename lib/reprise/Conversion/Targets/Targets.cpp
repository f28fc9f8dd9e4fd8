// reprise: the registry of all targets
#include "reprise/Conversion/Targets.h"

#include "reprise/Conversion/Cpu/CpuBackend.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {
namespace {

struct AllTargets : TargetProvider {
  explicit AllTargets(Dialect *dialect) : TargetProvider(dialect) {}

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
               << name << "' takes ptxas, which is neither in PATH nor in a CUDA toolkit "
               << "(CUDA_HOME); without ':cubin' the target takes none";
      target = std::make_shared<CudaBackend>(chips, *kind, hasCubins);
      return success();
    }
    if (device != "cpu")
      return emitError(location, "unknown target '")
             << name
             << "', expected cpu, cpu:native, cpu:x86-64-v3, "
                "cpu:x86-64-v4 or a GPU from cuda:sm_80 on, or several such as "
                "cuda:sm_80+sm_90";
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
