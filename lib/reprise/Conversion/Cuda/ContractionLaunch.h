// reprise: a launch for a GPU whose leader is a contraction or a convolution
#ifndef REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H
#define REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise::cuda {

/// Emits a body that is such a launch (reprise/Conversion/LoopNest/ContractionLaunch.h); no operand
/// has been looked up yet.
mlir::FailureOr<EmittedLaunch> emitContractionLaunch(mlir::Block &body, llvm::StringRef name,
                                                     mlir::ModuleOp kernels,
                                                     LaunchOperands operands,
                                                     Contractions contractions);

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_CONTRACTIONLAUNCH_H
