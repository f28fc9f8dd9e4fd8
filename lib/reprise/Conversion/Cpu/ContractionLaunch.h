// reprise: common parts of the launches of contractions and convolutions
#ifndef REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Cpu/TileGroup.h"

namespace reprise {

/// Returns the group of the ops other than `leader`, whose result counts as [batch, rows, columns].
std::optional<TileGroup> tileGroupOf(mlir::Block &body, mlir::Operation *leader,
                                     const CpuTarget &target);

/// Adds the kernels of a contraction and its commands to `launch`, and keeps its scratch. Without a
/// group the first result is stored, through `store` if given. A spec that continues sums needs the
/// place of `sums`.
void addContraction(EmittedLaunch &launch, int64_t keptBytes, mlir::ModuleOp kernels,
                    llvm::StringRef name, ContractionSpec spec, const CpuTarget &target,
                    const LaunchOperand &lhs, const LaunchOperand &rhs,
                    const std::optional<TileGroup> &group, EpilogueFn store = nullptr,
                    const LaunchOperand *sums = nullptr);

/// Emits a launch whose leader is a convolution or a gradient of a convolution.
mlir::FailureOr<EmittedLaunch> emitConvolutionLaunch(mlir::Block &body, mlir::Operation *leader,
                                                     llvm::StringRef name, mlir::ModuleOp kernels,
                                                     const CpuTarget &target);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTIONLAUNCH_H
