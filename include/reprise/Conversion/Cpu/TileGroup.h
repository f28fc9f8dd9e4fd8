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
  /// None if the body holds more than `contraction`, views of arguments for it, and ops whose
  /// elements depend on the contraction's element at the same place alone: elementwise ops, draws,
  /// and any movement of the body's other arguments. What the terminator stores has the result's
  /// number of elements.
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

  /// True if results may lie where an argument lies that the contraction does not read: each of its
  /// elements is read by the step that stores the results' element in its place.
  bool mayShare(unsigned argument) const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_TILEGROUP_H
