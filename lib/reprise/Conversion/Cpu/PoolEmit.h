// reprise: the parts of a pooling's kernel
#ifndef REPRISE_CONVERSION_CPU_POOLEMIT_H
#define REPRISE_CONVERSION_CPU_POOLEMIT_H

#include "../Pooling.h"
#include "reprise/Conversion/Cpu/Target.h"

namespace reprise {

/// Numbers of the buffers of maxima and their positions, -1 for none.
struct MaxTargets {
  int values, positions;
  mlir::Type positionType;
};

/// Returns whether vectors of neighbouring outputs can be pooled: non-adaptive windows of f32 or
/// f64, at steps of 1 or 2.
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
