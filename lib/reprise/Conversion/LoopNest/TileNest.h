// reprise: the ops behind a contraction, as a nest over its elements
#ifndef REPRISE_CONVERSION_LOOPNEST_TILENEST_H
#define REPRISE_CONVERSION_LOOPNEST_TILENEST_H

#include "Program.h"

#include <array>

namespace reprise {

/// The contraction's or convolution's result as [batch, rows, columns].
std::array<int64_t, 3> matrixOf(mlir::Operation *leader);

namespace nests {

/// All results of a body are stored as soon as an element of the contraction is at hand
/// (`nest.tile`).
struct TileNest {
  mlir::OwningOpRef<KernelOp> kernel;
  Nest nest;
  /// The number of elements of the largest value.
  int64_t elements;

  /// None if the body holds more than `contraction`, views of arguments for it, and ops whose
  /// elements depend on the contraction's element at the same place alone: elementwise ops, draws,
  /// and any movement of the body's other arguments. What the terminator stores has the result's
  /// number of elements, which is that of the shape.
  static std::optional<TileNest> get(mlir::Block &body, mlir::Operation *contraction, Shape shape);
};

} // namespace nests
} // namespace reprise

#endif // REPRISE_CONVERSION_LOOPNEST_TILENEST_H
