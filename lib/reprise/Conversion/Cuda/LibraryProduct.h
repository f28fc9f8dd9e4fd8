// reprise: contractions that a library of the GPU computes
#ifndef REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H
#define REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H

#include "../LoopNest/LaunchOperands.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Whether an operand is a matrix, or one for each of a batch: whether its rows, or columns, and
/// its terms have one stride each.
bool isMatrix(const ContractionSpec &spec, bool isLhs);

/// Adds the call that computes a contraction of two matrices, with its bias if there is one, to
/// the launch. False if it stays a kernel; if that is so because of what the library takes, the
/// launch says why. Types, sizes and strides alone decide, so all plans do alike.
bool emitLibraryProduct(mlir::Operation *dot, const ContractionSpec &spec, const LaunchOperand &lhs,
                        const LaunchOperand &rhs, const std::optional<LaunchOperand> &bias,
                        EmittedLaunch &launch);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_LIBRARYPRODUCT_H
