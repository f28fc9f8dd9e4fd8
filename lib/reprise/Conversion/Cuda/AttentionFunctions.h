// reprise: the arithmetic of a score of attention, as functions of kernels/cuda
#ifndef REPRISE_CONVERSION_CUDA_ATTENTIONFUNCTIONS_H
#define REPRISE_CONVERSION_CUDA_ATTENTIONFUNCTIONS_H

#include "reprise/Conversion/AttentionSpec.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace reprise::cuda {

/// Returns whether products on tensor cores stand for scores: they are complete, and grow with the
/// score.
inline bool isProduct(const AttentionSpec &spec) { return !spec.hasBias && spec.scale > 0; }

/// Adds the functions that kernels/cuda/AttentionFunctions.h declares to the kernel's module.
void addAttentionFunctions(mlir::gpu::GPUModuleOp module, const AttentionSpec &spec,
                           const AttentionBuffers &buffers);

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_ATTENTIONFUNCTIONS_H
