// reprise: kernels of ops that no loop nest computes: each works on whole tensors in its own order
#ifndef REPRISE_CONVERSION_CPU_NESTALONE_H
#define REPRISE_CONVERSION_CPU_NESTALONE_H

#include "../LoopNest/AloneOps.h"
#include "../LoopNest/HostCallCommand.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Target/Launch.h"

namespace reprise::nests {

/// An op that runs alone, and where its kernels go.
struct AloneLaunch {
  mlir::Operation *op;
  /// Per result: whether it is stored. The buffers are the operands and the stored results.
  llvm::ArrayRef<bool> stored;
  llvm::StringRef name;
  mlir::ModuleOp kernels;
  const CpuTarget &target;
};

/// Emits the kernels, the first one under the name itself. Sets all but the commands' buffers.
llvm::SmallVector<EmittedCommand> emitAlone(const AloneLaunch &alone);

// One overload per op that runs alone.
using AloneCommands = llvm::SmallVector<EmittedCommand>;
AloneCommands emit(ScatterAddOp op, const AloneLaunch &alone);
AloneCommands emit(ScatterAddAlongOp op, const AloneLaunch &alone);
AloneCommands emit(ScatterOp op, const AloneLaunch &alone);
AloneCommands emit(CumsumOp op, const AloneLaunch &alone);
AloneCommands emit(TopKOp op, const AloneLaunch &alone);
AloneCommands emit(DynamicUpdateOp op, const AloneLaunch &alone);
AloneCommands emit(CustomCallOp op, const AloneLaunch &alone);

/// Runs over [0, count): vectors of `width`, then single elements.
void forVectors(KernelBuilder &k, mlir::Value count, int64_t width,
                llvm::function_ref<void(mlir::Value, int64_t)> body);
/// Copies elements [begin, begin + count) from one buffer to the same place of another, unless both
/// are the same memory.
void copyUnlessSame(KernelBuilder &k, mlir::Type bits, mlir::Value from, mlir::Value to,
                    mlir::Value begin, mlir::Value count, int64_t width);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_CPU_NESTALONE_H
