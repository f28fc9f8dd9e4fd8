// reprise: contractions for blocks of threads of a GPU, a tile of the result each
#ifndef REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H

#include "TilePlan.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Whether the contraction has enough rows and columns to fill tiles.
bool suitsTiles(const ContractionSpec &spec);

/// The same as emitPlainContraction, for a part of the result, with operands that pass through
/// shared memory: a block has up to 128 × 128 elements, a thread up to 8 × 8 of them in registers.
/// Each element is still one chain of fma down the contracted index, so its bits are the same.
/// Buffers lhs and rhs begin at multiples of so many bytes.
EmittedCommand emitTiledContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const TiledPart &part, int64_t lhsAlignment,
                                    int64_t rhsAlignment, const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEDCONTRACTION_H
