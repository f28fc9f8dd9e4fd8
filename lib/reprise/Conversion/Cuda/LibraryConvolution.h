// reprise: convolutions that a library of the GPU computes
#ifndef REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H
#define REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H

#include "../LoopNest/LaunchOperands.h"

namespace reprise {

/// Adds the library call of a convolution, or one of its gradients, to the launch of `operands`,
/// behind the copies that it needs. Returns false, and adds no command, if kernels compute it; if a
/// limit of the library is the reason, the launch records it. The choice depends only on the op, so
/// all plans choose alike.
mlir::FailureOr<bool> emitLibraryConvolution(mlir::Operation *convolution,
                                             LaunchOperands &operands);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_LIBRARYCONVOLUTION_H
