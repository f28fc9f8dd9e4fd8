// reprise: contractions on the tensor cores of a GPU, one tile of the result per block
#ifndef REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H

#include "TileEpilogue.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise {

/// Returns whether tensor cores compute the contraction; depends only on types and sizes.
bool suitsTensorCores(const ContractionSpec &spec, Contractions contractions);

/// Returns whether copies load tiles of an aligned operand for the tensor cores; otherwise threads
/// load each element.
bool isCopiedByThreads(const ContractionSpec &spec, bool isLhs);

/// Emits the kernel of emitTiledContraction with another order: each element is the sum of products
/// of 16 terms (of f32, rounded to TF32: eight), added in f32 in the order of terms.
EmittedCommand emitTensorContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                     const ContractionSpec &spec, const ResultStrides &result,
                                     int64_t lhsAlignment, int64_t rhsAlignment,
                                     const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H
