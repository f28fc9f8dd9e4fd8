// reprise: contractions for the threads of a GPU, an element of the result each
#ifndef REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H
#define REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H

#include "TileEpilogue.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Adds a kernel of buffers lhs, rhs and result, or those of the epilogue, in the canonical order.
/// It has no tiles, so it reads each operand from memory as often as it is used.
EmittedCommand emitPlainContraction(mlir::ModuleOp kernels, llvm::StringRef name,
                                    const ContractionSpec &spec, const ResultStrides &result,
                                    const TileEpilogue *epilogue);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_PLAINCONTRACTION_H
