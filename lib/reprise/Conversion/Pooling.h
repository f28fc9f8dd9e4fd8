// reprise: the windows of poolings, and their arithmetic, for all targets
#ifndef REPRISE_CONVERSION_POOLING_H
#define REPRISE_CONVERSION_POOLING_H

#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"

namespace reprise {

/// Spatial dimension of a pooling; a pooling over a single dimension has another of size 1 before
/// it.
struct PoolAxis {
  int64_t image = 1, steps = 1, window = 1, stride = 1, low = 0;
  bool adaptive = false;
};

struct PoolRange {
  mlir::Value begin, end;
};

/// Returns the positions inside of the image that output `i` covers.
PoolRange poolRange(KernelBuilder &k, const PoolAxis &axis, mlir::Value i);
/// The outputs that cover a position of the image.
PoolRange coveringRange(KernelBuilder &k, const PoolAxis &axis, mlir::Value position);

/// Returns true (per lane) if `x` is the maximum of the two, and not equal to `leader`: a first NaN
/// stays, and +0 is above -0.
mlir::Value emitWins(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value leader);

/// The poolings of planes, each of one channel of one sample, that an op computes.
class PoolPlanes {
public:
  PoolPlanes(mlir::Operation *op, mlir::RankedTensorType image, mlir::RankedTensorType pooled);

  mlir::Type type, compute;
  PoolAxis axes[2];

  int64_t imageSize() const { return axes[0].image * axes[1].image; }
  int64_t pooledSize() const { return axes[0].steps * axes[1].steps; }

  /// Positions of the window within a plane, row-major.
  Carried forWindow(KernelBuilder &k, PoolRange rows, PoolRange columns, mlir::ValueRange carried,
                    llvm::function_ref<Carried(mlir::Value position, mlir::ValueRange)> body) const;
  /// The number of positions of a window, in the type of arithmetic.
  mlir::Value emitCount(KernelBuilder &k, PoolRange rows, PoolRange columns) const;
  /// Returns the maximum of the plane at `from`, and its position.
  std::pair<mlir::Value, mlir::Value> emitMaximum(KernelBuilder &k, mlir::Value from,
                                                  PoolRange rows, PoolRange columns) const;
  mlir::Value emitMean(KernelBuilder &k, mlir::Value from, PoolRange rows, PoolRange columns) const;
};

/// Returns the pooling of a launch's body; null if there is none.
mlir::Operation *findPool(mlir::Block &body);

/// Returns the slots of the body's outputs by the result of `op` that they store, -1 for none.
mlir::FailureOr<llvm::SmallVector<int64_t>> findOutputs(mlir::Block &body, mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_CONVERSION_POOLING_H
