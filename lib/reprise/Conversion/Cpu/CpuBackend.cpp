// reprise: the CPU as a target of the phases
#include "reprise/Conversion/Cpu/CpuBackend.h"

#include "../LoopNest/ContractionGroup.h"
#include "../LoopNest/Program.h"
#include "../LoopNest/RowGroup.h"
#include "NestSchedule.h"
#include "mlir/IR/OwningOpRef.h"
#include "reprise/Conversion/Cpu/EmitLaunch.h"
#include "reprise/Conversion/Cpu/LoopNests.h"

using namespace mlir;

namespace reprise {

bool CpuBackend::canHold(ArrayRef<Operation *> ops) const {
  return nests::isContractionGroup(ops) || nests::isRowGroup(ops);
}

Target::InPlacePairs CpuBackend::findInPlacePairs(Block &body) const {
  return reprise::findInPlacePairs(body);
}

OwningOpRef<Operation *> CpuBackend::formNests(Block &body, StringRef name) const {
  return nests::formNests(body, nests::NestRules(), name, [&](const nests::Nest &nest) {
    return nests::makeSchedule(nest, cpu.registers());
  });
}

FailureOr<EmittedLaunch> CpuBackend::emitLaunch(Block &body, StringRef name,
                                                ModuleOp kernels) const {
  return reprise::emitLaunch(body, name, kernels, cpu);
}

FailureOr<EmittedLaunch> CpuBackend::emitNests(Operation *program, StringRef name,
                                               ModuleOp kernels) const {
  return reprise::emitNests(cast<nests::NestProgramOp>(program), name, kernels, cpu);
}

FailureOr<Scratch> CpuBackend::findScratch(Block &body) const {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(body.getParentOp()->getLoc());
  FailureOr<EmittedLaunch> emitted = emitLaunch(body, "kernel", *kernels);
  if (failed(emitted))
    return failure();
  Scratch scratch{emitted->sharedBytes, 0};
  for (const EmittedCommand &command : emitted->commands)
    scratch.worker = std::max(scratch.worker, command.workerBytes);
  return scratch;
}

FailureOr<OwningOpRef<ModuleOp>> CpuBackend::lowerKernels(ModuleOp kernels) const {
  return reprise::lowerKernels(kernels);
}

FailureOr<Image> CpuBackend::compileKernels(ModuleOp kernels) const {
  return reprise::compileKernels(kernels, cpu);
}

} // namespace reprise
