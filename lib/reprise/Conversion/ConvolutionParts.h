// reprise: a convolution, or one of its gradients, as contractions of strided operands
//
// An image with a frame of zeros around it makes every operand strided: an output position moves
// the window's first element by a fixed distance, a window position by another. What a strided
// convolution's gradient computes is cut into phases, image positions with the same remainders by
// the strides: each sums over its own part of the window, without holes.
#ifndef REPRISE_CONVERSION_CONVOLUTIONPARTS_H
#define REPRISE_CONVERSION_CONVOLUTIONPARTS_H

#include "reprise/Conversion/ContractionSpec.h"

#include <vector>

namespace reprise {

/// Planes of `size` with `low` zeros before and `high` ones after them in each dimension.
struct Frame {
  int64_t size[2] = {1, 1}, low[2] = {0, 0}, high[2] = {0, 0};

  int64_t lines() const { return low[0] + size[0] + high[0]; }
  int64_t width() const { return low[1] + size[1] + high[1]; }
  /// Around the planes of a tensor, [first, second, spatial…].
  static Frame none(mlir::Value tensor);
  bool isEmpty() const { return lines() == size[0] && width() == size[1]; }
};

/// What a convolution contracts; `frame` goes around the planes of `rhs`. One spatial dimension
/// counts as the second of two.
struct ConvolutionOperands {
  mlir::Value lhs, rhs;
  Frame frame;
};
ConvolutionOperands operandsOf(mlir::Operation *convolution);

/// Some elements of the result, and where they go.
struct ConvolutionPart {
  ContractionSpec spec;
  ResultStrides result;
  /// It is all of them, in the order that the spec promises.
  bool isWhole;
};

/// Every element of the result lies in one part. Strides are those of the tensors' dimensions, of
/// `rhs` with its frame.
std::vector<ConvolutionPart> partsOf(mlir::Operation *convolution,
                                     llvm::ArrayRef<int64_t> lhsStrides,
                                     llvm::ArrayRef<int64_t> rhsStrides);

} // namespace reprise

#endif // REPRISE_CONVERSION_CONVOLUTIONPARTS_H
