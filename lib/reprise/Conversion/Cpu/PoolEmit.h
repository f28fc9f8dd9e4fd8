// reprise: the parts of a pooling's kernel
#ifndef REPRISE_CONVERSION_CPU_POOLEMIT_H
#define REPRISE_CONVERSION_CPU_POOLEMIT_H

#include "reprise/Conversion/Cpu/Target.h"
#include "reprise/Conversion/KernelBuilder.h"

namespace reprise {

/// One spatial dimension of a pooling; one over a single dimension has another of size 1 before it.
struct PoolAxis {
  int64_t image = 1, steps = 1, window = 1, stride = 1, low = 0;
  bool adaptive = false;
};

struct PoolRange {
  mlir::Value begin, end;
};

/// What output `i` covers, inside of the image.
PoolRange poolRange(KernelBuilder &k, const PoolAxis &axis, mlir::Value i);

/// True (in every lane) if `x` is the maximum of the two, and not the same as `leader`: a first NaN
/// stays, and +0 is above -0.
mlir::Value emitWins(KernelBuilder &k, mlir::Value x, mlir::Value leader);

/// Where maxima go: the numbers of the buffers of values and positions, -1 for none.
struct MaxTargets {
  int values, positions;
  mlir::Type positionType;
};

/// Whether vectors of neighbouring outputs can be pooled: windows, not adaptive, of f32 or f64, at
/// steps of 1 or 2.
bool hasPoolLanes(const PoolAxis &axis, mlir::Type type);

/// Pools the outputs of one plane, vector by vector. `from` is its first element, `to` the number
/// of its first output. Means go to buffer 1.
void emitMaxLanes(KernelBuilder &k, llvm::ArrayRef<PoolAxis> axes, mlir::Type type,
                  const CpuTarget &target, mlir::Value from, mlir::Value to,
                  const MaxTargets &targets);
void emitAverageLanes(KernelBuilder &k, llvm::ArrayRef<PoolAxis> axes, mlir::Type type,
                      const CpuTarget &target, mlir::Value from, mlir::Value to);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_POOLEMIT_H
