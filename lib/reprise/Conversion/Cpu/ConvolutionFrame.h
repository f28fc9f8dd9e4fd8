// reprise: emits the copy of an image with zeros around it
#ifndef REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
#define REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H

#include "mlir/IR/BuiltinOps.h"

namespace reprise {

/// Planes of `size` with `low` zeros before and `high` ones after them in each dimension.
struct Frame {
  int64_t size[2] = {1, 1}, low[2] = {0, 0}, high[2] = {0, 0};

  int64_t lines() const { return low[0] + size[0] + high[0]; }
  int64_t width() const { return low[1] + size[1] + high[1]; }
  bool isEmpty() const { return lines() == size[0] && width() == size[1]; }
};

/// Adds a kernel whose items are the planes: buffer 0 holds them one behind the other, buffer 1
/// gets them framed.
void emitFrame(mlir::ModuleOp kernels, llvm::StringRef name, mlir::Type type, const Frame &frame);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONVOLUTIONFRAME_H
