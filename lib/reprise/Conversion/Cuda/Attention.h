// reprise: scaled dot-product attention and its backward, as kernels for the warps of a GPU
#ifndef REPRISE_CONVERSION_CUDA_ATTENTION_H
#define REPRISE_CONVERSION_CUDA_ATTENTION_H

#include "reprise/Conversion/AttentionSpec.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise::cuda {

/// Adds the kernels of one attention, whose names begin with `name`. The slots of their commands
/// are those of AttentionBuffers, inputs and outputs each numbered from 0; in the backward the
/// shared scratch follows. Scores are never stored: each kernel computes the scores that it needs.
EmittedLaunch emitAttention(mlir::ModuleOp kernels, llvm::StringRef name, const AttentionSpec &spec,
                            Contractions contractions);
EmittedLaunch emitAttentionBackward(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const AttentionSpec &spec, Contractions contractions);

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_ATTENTION_H
