// reprise: attention on the tensor cores of a GPU: the choice of kernels, and their functions
#ifndef REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
#define REPRISE_CONVERSION_CUDA_TENSORATTENTION_H

#include "reprise/Conversion/AttentionSpec.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise::cuda {

constexpr double log2e = 1.4426950408889634074;

/// Returns whether tensor cores compute the attention, or its backward; depends only on type and
/// sizes.
bool suitsTensorCores(const AttentionSpec &spec, Contractions contractions);

EmittedLaunch emitTensorAttention(mlir::ModuleOp kernels, llvm::StringRef name,
                                  const AttentionSpec &spec);
/// Adds the kernels that follow the kernel of delta.
void addTensorGradients(EmittedLaunch &launch, mlir::ModuleOp kernels, llvm::StringRef name,
                        const AttentionSpec &spec);

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
