// reprise: elementwise ops on a contraction's result, applied to each block while it is in the
// cache
#ifndef REPRISE_CONVERSION_CPU_TILEGROUP_H
#define REPRISE_CONVERSION_CPU_TILEGROUP_H

#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Target/Launch.h"

#include "mlir/IR/Block.h"

#include <memory>

namespace reprise {

/// Ops of a body on the result of its contraction, which counts as [batch, rows, columns].
class TileGroup {
public:
  /// Returns the group of a body; none if no nest over its elements computes all ops except
  /// `contraction` (TileNest).
  static std::optional<TileGroup> get(mlir::Block &body, mlir::Operation *contraction,
                                      int64_t batch, int64_t rows, int64_t columns,
                                      const CpuTarget &target);

  /// Returns the contraction's extra buffers: arguments that are read, then operands of the
  /// terminator.
  llvm::ArrayRef<BufferSlot> buffers() const;

  /// Emits all ops on a block, whose elements are in the contraction's accumulator type and not yet
  /// rounded, and stores the results.
  void emit(KernelBuilder &k, const ContractionBlock &block) const;

  /// Prefetches the cache lines that `emit` will access for a block.
  void prefetch(KernelBuilder &k, const ContractionBlock &block) const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_TILEGROUP_H
