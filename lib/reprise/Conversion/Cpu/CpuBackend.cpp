// reprise: the CPU as a target of the phases
#include "reprise/Conversion/Cpu/CpuBackend.h"

#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/Loops.h"

using namespace mlir;

namespace reprise {

Target::InPlacePairs CpuBackend::findInPlacePairs(Block &body) const {
  return reprise::findInPlacePairs(body);
}

FailureOr<EmittedLaunch> CpuBackend::emitLaunch(Block &body, StringRef name,
                                                ModuleOp kernels) const {
  return reprise::emitLaunch(body, name, kernels, cpu);
}

FailureOr<Image> CpuBackend::compileKernels(ModuleOp kernels) const {
  return reprise::compileKernels(kernels, cpu);
}

} // namespace reprise
