// reprise: contractions for the threads of a GPU, one element of the result per thread
#ifndef REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H

#include "TileEpilogue.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds a kernel of buffers lhs, rhs and result, or those of the epilogue, in the canonical order.
/// Buffer 3 holds the sums that a spec continues; such a contraction has no epilogue.
/// The kernel has no tiles, so it loads each operand element from memory for every use.
EmittedCommand emitPlainContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const ContractionSpec &spec, const ResultStrides &result,
                                    const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H
