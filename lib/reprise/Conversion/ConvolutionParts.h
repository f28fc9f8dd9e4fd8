// reprise: a convolution, or one of its gradients, as contractions of strided operands
//
// An image with a frame of zeros makes every operand strided: an output position moves the window's
// first element by a fixed distance, a window position by another distance. The gradient of a
// strided convolution is cut into phases, image positions with the same remainders by the strides:
// each phase sums over its own part of the window, without holes.
#ifndef REPRISE_CONVERSION_CONVOLUTIONPARTS_H
#define REPRISE_CONVERSION_CONVOLUTIONPARTS_H

#include "reprise/Conversion/ContractionSpec.h"

#include <vector>

namespace reprise {

/// Frame of zeros: planes of `size` with `low` zeros before and `high` zeros after them in each
/// dimension.
struct Frame {
  int64_t size[2] = {1, 1}, low[2] = {0, 0}, high[2] = {0, 0};

  int64_t lines() const { return low[0] + size[0] + high[0]; }
  int64_t width() const { return low[1] + size[1] + high[1]; }
  /// Returns an empty frame around the planes of a tensor, [first, second, spatial…].
  static Frame none(mlir::Value tensor);
  bool isEmpty() const { return lines() == size[0] && width() == size[1]; }
};

/// Operands of a convolution as a contraction; `frame` goes around the planes of `rhs`. A single
/// spatial dimension counts as the second of two.
struct ConvolutionOperands {
  mlir::Value lhs, rhs;
  Frame frame;
};
ConvolutionOperands operandsOf(mlir::Operation *convolution);

/// Part of the elements of the result, and their places.
struct ConvolutionPart {
  ContractionSpec spec;
  ResultStrides result;
  /// Tells whether the part is the whole result, in the order that the spec promises.
  bool isWhole;
};

/// Returns parts such that every element of the result lies in one part. Strides are those of the
/// tensors' dimensions; those of `rhs` include its frame.
std::vector<ConvolutionPart> partsOf(mlir::Operation *convolution,
                                     llvm::ArrayRef<int64_t> lhsStrides,
                                     llvm::ArrayRef<int64_t> rhsStrides);

} // namespace reprise

#endif // REPRISE_CONVERSION_CONVOLUTIONPARTS_H
