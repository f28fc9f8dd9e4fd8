// reprise: contractions that a library of the GPU computes
#ifndef REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H
#define REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns whether an operand is a matrix per batch entry: whether its rows, or columns, and its
/// terms have one stride each.
bool isMatrix(const ContractionSpec &spec, bool isLhs);

/// Adds the library call of a contraction of two matrices, with its bias if there is one, to the
/// launch. Returns false if a kernel computes it; if a limit of the library is the reason, the
/// launch records it. The choice depends only on types, sizes and strides, so all plans choose
/// alike.
bool emitLibraryProduct(mlir::Operation *dot, const ContractionSpec &spec, const LaunchOperand &lhs,
                        const LaunchOperand &rhs, const std::optional<LaunchOperand> &bias,
                        EmittedLaunch &launch);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H
