// reprise: places of the operands of a leader on the CPU
#ifndef REPRISE_CONVERSION_CPU_CPUOPERANDS_H
#define REPRISE_CONVERSION_CPU_CPUOPERANDS_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/Cpu/LoopNests.h"

namespace reprise {

/// Makes operands that the CPU's loop nests copy. The target outlives them.
inline LaunchOperands makeCpuOperands(llvm::StringRef name, mlir::ModuleOp kernels,
                                      const CpuTarget &target) {
  return {name, kernels, [&target](mlir::Block &body, llvm::StringRef own, mlir::ModuleOp module) {
            return emitLoopNests(body, own, module, target);
          }};
}

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CPUOPERANDS_H
