// reprise: elementwise ops on a contraction's result, applied to each block while it is in the
// cache
#ifndef REPRISE_CONVERSION_CPU_TILEGROUP_H
#define REPRISE_CONVERSION_CPU_TILEGROUP_H

#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Target/Launch.h"

#include "mlir/IR/Block.h"

#include <memory>

namespace reprise {

/// What a body does with the result of its contraction, which counts as [batch, rows, columns].
class TileGroup {
public:
  /// None if no nest over its elements computes all ops beside `contraction` (TileNest).
  static std::optional<TileGroup> get(mlir::Block &body, mlir::Operation *contraction,
                                      int64_t batch, int64_t rows, int64_t columns,
                                      const CpuTarget &target);

  /// The contraction's extra buffers: arguments that are read, then operands of the terminator.
  llvm::ArrayRef<BufferSlot> buffers() const;

  /// Emits all ops on a block, whose elements are in the contraction's accumulator type and not yet
  /// rounded, and stores the results.
  void emit(KernelBuilder &k, const ContractionBlock &block) const;

  /// Fetches the lines of memory that `emit` will store to or load from for a block.
  void prefetch(KernelBuilder &k, const ContractionBlock &block) const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_TILEGROUP_H
