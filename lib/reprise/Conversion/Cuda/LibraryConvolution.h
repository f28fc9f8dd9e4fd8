// reprise: convolutions that a library of the GPU computes
#ifndef REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H
#define REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H

#include "../LoopNest/LaunchOperands.h"

namespace reprise {

/// Adds the call that computes a convolution, or one of its gradients, to the launch of `operands`,
/// behind the copies that it needs. False if it stays with kernels, and nothing was added; if that
/// is so because of what the library takes, the launch says why. The op alone decides, so all plans
/// do alike.
mlir::FailureOr<bool> emitLibraryConvolution(mlir::Operation *convolution,
                                             LaunchOperands &operands);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H
