// reprise: emits the copy of an image with zeros around it
#ifndef REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
#define REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H

#include "../ConvolutionParts.h"

namespace reprise {

/// Adds a kernel whose items are the planes: buffer 0 holds them one behind the other, buffer 1
/// gets them framed.
void emitFrame(mlir::ModuleOp kernels, llvm::StringRef name, mlir::Type type, const Frame &frame);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
