// reprise: contractions for blocks of threads of a GPU, one tile of the result per block
#ifndef REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H

#include "TilePlan.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Returns whether the contraction has enough rows and columns to fill tiles.
bool suitsTiles(const ContractionSpec &spec);

/// Emits the kernel of emitPlainContraction for a part of the result, with operands that pass
/// through shared memory. A block has up to 128 × 128 elements, a thread up to 8 × 8 of them in
/// registers. Each element is one chain of fma along the contracted index, so its bits are the
/// same. Buffers lhs and rhs begin at multiples of `lhsAlignment` and `rhsAlignment` bytes.
EmittedCommand emitTiledContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const TiledPart &part, int64_t lhsAlignment,
                                    int64_t rhsAlignment, const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H
