// reprise: the layout of convolution operands for the tensor cores of a GPU
//
// A window moves along rows of an image by single elements, so that the elements of a tile begin at
// any position, and threads must load each element separately. In a copy with channels last, eight
// channels lie beside each other at every position, and copies of 16 bytes load them.
#ifndef REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H
#define REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H

#include "../ConvolutionParts.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise {

/// Operands that are copied with their second dimension, channels, last.
struct ConvolutionLayout {
  bool lhs = false, rhs = false;
};
/// Chooses the layout, only from sizes and types.
ConvolutionLayout chooseLayout(mlir::Operation *convolution, const ConvolutionOperands &operands,
                               Contractions contractions);

/// Returns the parts of a convolution whose operands are row-major.
std::vector<ConvolutionPart> densePartsOf(mlir::Operation *convolution,
                                          const ConvolutionOperands &operands);

/// Puts positions of the window before channels in every layout, so that with channels last
/// neighbouring terms, or columns of a filter's gradient, are neighbours. Only for 16-bit types:
/// tensor cores add in the order of terms, and TF32 keeps its order.
void putChannelsLast(mlir::Operation *convolution, ContractionSpec &spec, ResultStrides &result);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CONVOLUTIONLAYOUT_H
