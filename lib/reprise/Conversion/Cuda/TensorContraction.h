// reprise: contractions on the tensor cores of a GPU, a tile of the result for each block
#ifndef REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H

#include "TileEpilogue.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise {

/// Whether tensor cores compute the contraction: types and sizes alone decide.
bool suitsTensorCores(const ContractionSpec &spec, Contractions contractions);

/// Whether copies bring tiles of an operand, at an aligned place, to the tensor cores; else threads
/// load each element.
bool isCopiedByThreads(const ContractionSpec &spec, bool isLhs);

/// The same as emitTiledContraction, in another order: each element is the sum of products of 16
/// terms (of f32, rounded to TF32: eight), added in f32 in the order of terms.
EmittedCommand emitTensorContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                     const ContractionSpec &spec, const ResultStrides &result,
                                     int64_t lhsAlignment, int64_t rhsAlignment,
                                     const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TENSORCONTRACTION_H
