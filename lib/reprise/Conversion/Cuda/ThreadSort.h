// reprise: sorts rows on a GPU
#ifndef REPRISE_CONVERSION_CUDA_THREADSORT_H
#define REPRISE_CONVERSION_CUDA_THREADSORT_H

#include "ThreadCommands.h"

#include <functional>

namespace reprise {

/// Rows of `n` elements, whose first `kept` elements in the order of keys are stored. The sort is
/// stable. An element is identified by its number among the elements of all rows.
struct RowSort {
  int64_t rows, n, kept;
  /// Buffers that `key` and `store` access: the first buffers of every command.
  llvm::SmallVector<BufferSlot> buffers;
  /// The key of an element: an integer.
  std::function<mlir::Value(KernelBuilder &, mlir::Value element)> key;
  /// Takes the element at a place of the sorted row.
  std::function<void(KernelBuilder &, mlir::Value row, mlir::Value place, mlir::Value element)>
      store;
};

/// Adds the commands: one for short rows, otherwise one more for each doubling of the run length. A
/// thread counts the elements before its own, so the result does not depend on the order of
/// threads.
void emitRowSort(ThreadCommands &commands, const RowSort &sort);

/// Returns `low` plus the number of elements of [low, high) for which `isBefore` holds; these come
/// first. Places beyond them are not read; `size` is the largest possible number of elements, and
/// `valid` is a place that may be read if there are none.
mlir::Value emitBinarySearch(KernelBuilder &k, mlir::Value low, mlir::Value high, int64_t size,
                             mlir::Value valid,
                             llvm::function_ref<mlir::Value(mlir::Value place)> isBefore);

/// Integers that number `count` things, in memory, and as i64.
mlir::Type numberType(KernelBuilder &k, int64_t count);
int64_t numberBytes(int64_t count);
mlir::Value loadNumber(KernelBuilder &k, int64_t count, mlir::Value base, mlir::Value index);
void storeNumber(KernelBuilder &k, int64_t count, mlir::Value number, mlir::Value base,
                 mlir::Value index);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADSORT_H
