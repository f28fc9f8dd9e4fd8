// reprise: emission of any launch for the CPU
#ifndef REPRISE_CONVERSION_CPU_EMITLAUNCH_H
#define REPRISE_CONVERSION_CPU_EMITLAUNCH_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/LoopNest/ContractionLaunch.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds the kernels of one launch body to `kernels`, under symbols that start with `name`, and
/// returns the commands that run them. Chooses the emitter by what the body holds: a contraction or
/// convolution, attention, pooling, or loops. Errors are emitted at the op that no kernel can hold.
mlir::FailureOr<EmittedLaunch> emitLaunch(mlir::Block &body, llvm::StringRef name,
                                          mlir::ModuleOp kernels, const CpuTarget &target);

/// The launch of a contraction, whose elementwise ops are applied block by block while it is in the
/// cache.
mlir::FailureOr<EmittedLaunch> emitContractionLaunch(mlir::Block &body, llvm::StringRef name,
                                                     mlir::ModuleOp kernels,
                                                     const CpuTarget &target);

/// Max or average pooling or the adjoint of the latter, and views of its operand.
bool isPoolLaunch(mlir::Block &body);
mlir::FailureOr<EmittedLaunch> emitPoolLaunch(mlir::Block &body, llvm::StringRef name,
                                              mlir::ModuleOp kernels, const CpuTarget &target);

/// The pairs (operand of the terminator, argument) that may lie at the same address (see
/// Target::findInPlacePairs), for groups of loops and for contractions with elementwise ops.
llvm::SmallVector<std::pair<unsigned, unsigned>> findInPlacePairs(mlir::Block &body);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_EMITLAUNCH_H
