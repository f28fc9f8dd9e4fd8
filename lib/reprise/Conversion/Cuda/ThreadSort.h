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
  /// The key of an element: an integer, which is compared as signed.
  std::function<mlir::Value(KernelBuilder &, mlir::Value element)> key;
  /// Takes the element at a place of the sorted row.
  std::function<void(KernelBuilder &, mlir::Value row, mlir::Value place, mlir::Value element)>
      store;
};

/// Adds the commands: one for short rows, otherwise one more for each doubling of the run length. A
/// thread counts the elements before its own, so the result does not depend on the order of
/// threads.
void emitRowSort(ThreadCommands &commands, const RowSort &sort);

/// Adds a command that stores, for each row and each key of [0, `keys`), the number of sorted
/// elements of earlier rows and of smaller keys, and the number of all elements behind. Buffer
/// `sorted` has the elements that the sort stored.
void emitKeyBegins(ThreadCommands &commands, const RowSort &sort, int64_t keys,
                   const BufferSlot &sorted, const BufferSlot &begins);

/// Integers that number `count` things, in memory, and as i64.
mlir::Type numberType(KernelBuilder &k, int64_t count);
int64_t numberBytes(int64_t count);
mlir::Value loadNumber(KernelBuilder &k, int64_t count, mlir::Value base, mlir::Value index);
void storeNumber(KernelBuilder &k, int64_t count, mlir::Value number, mlir::Value base,
                 mlir::Value index);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_THREADSORT_H
