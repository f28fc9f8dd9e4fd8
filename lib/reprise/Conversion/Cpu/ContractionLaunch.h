// reprise: what the launches of contractions and convolutions share
#ifndef REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Cpu/TileGroup.h"

namespace reprise {

/// The ops beside `leader`, whose result counts as [batch, rows, columns].
std::optional<TileGroup> tileGroupOf(mlir::Block &body, mlir::Operation *leader,
                                     const CpuTarget &target);

/// Adds the kernels of a contraction and its commands to `launch`, whose scratch so far is kept.
/// Without a group the first result is stored, by `store` if there is one.
void addContraction(EmittedLaunch &launch, int64_t keptBytes, mlir::ModuleOp kernels,
                    llvm::StringRef name, ContractionSpec spec, const CpuTarget &target,
                    const LaunchOperand &lhs, const LaunchOperand &rhs,
                    const std::optional<TileGroup> &group, EpilogueFn store = nullptr);

/// A launch whose leader is a convolution or a gradient of one.
mlir::FailureOr<EmittedLaunch> emitConvolutionLaunch(mlir::Block &body, mlir::Operation *leader,
                                                     llvm::StringRef name, mlir::ModuleOp kernels,
                                                     const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H
