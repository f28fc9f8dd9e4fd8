// reprise: kernels of ops that no loop nest computes: each works on whole tensors in its own order
#ifndef REPRISE_CONVERSION_CPU_NESTALONE_H
#define REPRISE_CONVERSION_CPU_NESTALONE_H

#include "../LoopNest/AloneOps.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Target/Launch.h"

namespace reprise::nests {

/// Op that runs alone, and the destination of its kernels.
struct AloneOp {
  mlir::Operation *op;
  /// Tells whether each result is stored. The buffers are the operands and the stored results.
  llvm::SmallVector<bool> stored;
  llvm::StringRef name;
  mlir::ModuleOp kernels;
  const CpuTarget &target;
};

/// Emits the kernels, the first one under the name itself. Sets all but the commands' buffers.
llvm::SmallVector<EmittedCommand> emitAlone(const AloneOp &alone);

// Emitters for one family of ops each, for emitAlone.
EmittedCommand emitScatter(const AloneOp &alone);
EmittedCommand emitCumsum(const AloneOp &alone);
EmittedCommand emitTopK(const AloneOp &alone);
llvm::SmallVector<EmittedCommand> emitWindowUpdate(const AloneOp &alone);

/// Runs over [0, count): vectors of `width`, then single elements.
void forVectors(KernelBuilder &k, mlir::Value count, int64_t width,
                llvm::function_ref<void(mlir::Value, int64_t)> body);
/// Copies elements [begin, begin + count) from one buffer to the same place of another, unless both
/// are the same memory.
void copyUnlessSame(KernelBuilder &k, mlir::Type bits, mlir::Value from, mlir::Value to,
                    mlir::Value begin, mlir::Value count, int64_t width);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_CPU_NESTALONE_H
