// reprise: emission of any launch for the CPU
#ifndef REPRISE_CONVERSION_CPU_EMITLAUNCH_H
#define REPRISE_CONVERSION_CPU_EMITLAUNCH_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/LoopNest/ContractionLaunch.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds the kernels of one launch body to `kernels`, under symbols that start with `name`, and
/// returns their commands. Chooses the emitter by the ops of the body: a contraction or
/// convolution, attention, pooling, or loops. Errors are emitted at the op that no kernel can hold.
mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                          mlir::ModuleOp kernels, const CpuTarget &target);

/// Emits the launch of a contraction, whose elementwise ops are applied to each block while it is
/// in the cache.
mlir::FailureOr<EmittedLaunch> emitContractionLaunch(mlir::Block &body, llvm::StringRef name,
                                                     mlir::ModuleOp kernels,
                                                     const CpuTarget &target);

/// Returns true for max or average pooling, or the adjoint of average pooling, with views of its
/// operand.
bool isPoolLaunch(mlir::Block &body);
mlir::FailureOr<EmittedLaunch> emitPoolLaunch(mlir::Block &body, llvm::StringRef name,
                                              mlir::ModuleOp kernels, const CpuTarget &target);

/// Returns the pairs (operand of the terminator, argument) that may lie at the same address (see
/// Target::findInPlacePairs), for groups of loops and for contractions with elementwise ops.
llvm::SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(mlir::Block &body);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_EMITLAUNCH_H
