// reprise: the registry of all targets
#include "reprise/Conversion/Targets.h"

#include "reprise/Conversion/Cpu/CpuBackend.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Wording.h"

using namespace mlir;

namespace reprise {

/// GPUs to suggest: the oldest one first, several in one target last.
static constexpr StringLiteral kGpus[] = {"cuda:sm_80", "cuda:sm_90", "cuda:sm_100",
                                          "cuda:sm_80+sm_90"};

std::vector<std::string> getCpuNames() { return CpuTarget::getNames(); }

std::vector<std::string> getTargetNames() {
  std::vector<std::string> names = {"cpu"};
  for (const std::string &cpu : getCpuNames())
    names.push_back("cpu:" + cpu);
  names.insert(names.end(), std::begin(kGpus), std::end(kGpus));
  return names;
}

namespace {

struct AllTargets : TargetProvider {
  explicit AllTargets(Dialect *dialect) : TargetProvider(dialect) {}

  /// Emits the error about an unknown target. Another chip is no typing error, so only names with
  /// a machine and the same digits are suggested.
  static LogicalResult emitUnknown(StringRef name, Location location) {
    auto digits = [](StringRef text) {
      std::string kept;
      llvm::copy_if(text, std::back_inserter(kept), llvm::isDigit);
      return kept;
    };
    std::vector<std::string> alike = getTargetNames();
    llvm::erase_if(alike, [&](StringRef known) {
      return !known.contains(':') || digits(known) != digits(name);
    });
    InFlightDiagnostic error = emitError(location) << "unknown target '" << name << "', ";
    if (std::string nearest = findNearest(name, alike); !nearest.empty())
      return error << "did you mean '" << nearest << "'?";
    error << "expected cpu";
    for (const std::string &cpu : getCpuNames())
      error << ", cpu:" << cpu;
    return error << " or a GPU from " << kGpus[0] << " on, or several such as "
                 << kGpus[std::size(kGpus) - 1];
  }

  LogicalResult find(StringRef name, Location location,
                     std::shared_ptr<const Target> &target) const override {
    auto [device, machine] = name.split(':');
    auto [chips, rest] = machine.split(':');
    auto [first, behind] = rest.split(':');
    bool hasCubins = first == "cubin";
    StringRef contractions = hasCubins ? behind : rest;
    std::optional<Contractions> kind =
        contractions.empty() ? Contractions::TensorCores : findContractions(contractions);
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
