// reprise: a launch for a GPU whose leader is a contraction or a convolution
#ifndef REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise {

/// The contraction or convolution that a body consists of, beside what its operands are; or null.
mlir::Operation *findLeaderAlone(mlir::Block &body);

/// Emits the launch of such a leader, of operands that nothing was found of yet.
mlir::FailureOr<EmittedLaunch> emitLeaderAlone(mlir::Operation *leader, llvm::StringRef name,
                                               mlir::ModuleOp kernels, LaunchOperands operands,
                                               Contractions contractions);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H
