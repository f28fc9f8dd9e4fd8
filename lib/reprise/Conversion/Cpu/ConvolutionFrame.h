// reprise: emits the copy of an image with a frame of zeros
#ifndef REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
#define REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H

#include "../ConvolutionParts.h"

namespace reprise {

/// Adds a kernel whose items are the planes: buffer 0 holds the planes in sequence, buffer 1
/// receives the framed planes.
void emitFrame(mlir::ModuleOp kernels, llvm::StringRef name, mlir::Type type, const Frame &frame);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
