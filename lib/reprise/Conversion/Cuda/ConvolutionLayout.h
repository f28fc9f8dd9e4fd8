// reprise: how operands of a convolution lie for the tensor cores of a GPU
//
// A window moves along rows of an image by single elements, so that what a tile needs begins at any
// of them, and threads must load each alone. With its channels last, in a copy, eight of them lie
// beside each other at every position, and copies of 16 bytes bring them.
#ifndef REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H
#define REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H

#include "../ConvolutionParts.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise {

/// Which operands are copied with their second dimension, channels, last.
struct ConvolutionLayout {
  bool lhs = false, rhs = false;
};
/// Sizes and types alone decide.
ConvolutionLayout chooseLayout(mlir::Operation *convolution, const ConvolutionOperands &operands,
                               Contractions contractions);

/// Parts of a convolution whose operands are row-major.
std::vector<ConvolutionPart> densePartsOf(mlir::Operation *convolution,
                                          const ConvolutionOperands &operands);

/// Puts positions of the window before channels, for whatever layout, so that neighbours are
/// neighbours with channels last: terms, or columns of a filter's gradient. Of 16-bit types: tensor
/// cores add in the order of terms, which TF32 leaves as it is.
void putChannelsLast(mlir::Operation *convolution, ContractionSpec &spec, ResultStrides &result);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H
