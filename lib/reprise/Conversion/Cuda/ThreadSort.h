// reprise: sorts rows on a GPU
#ifndef REPRISE_CONVERSION_CUDA_THREADSORT_H
#define REPRISE_CONVERSION_CUDA_THREADSORT_H

#include "ThreadCommands.h"

#include <functional>

namespace reprise {

/// Rows of `n` elements, of which the `kept` first ones in the order of keys are stored. Elements
/// of equal keys stay in order. An element is known by its number among those of all rows.
struct RowSort {
  int64_t rows, n, kept;
  /// What `key` and `store` read and write: the first buffers of every command.
  llvm::SmallVector<BufferSlot> buffers;
  /// The key of an element: an integer.
  std::function<mlir::Value(KernelBuilder &, mlir::Value element)> key;
  /// Takes the element at a place of the sorted row.
  std::function<void(KernelBuilder &, mlir::Value row, mlir::Value place, mlir::Value element)>
      store;
};

/// Adds the commands: one where rows are short, else one more for each doubling of what is sorted.
/// A thread has an element and counts those that come before it, so nothing depends on the order of
/// threads.
void emitRowSort(ThreadCommands &commands, const RowSort &sort);

/// The number of elements of [low, high) for which `isBefore` holds, plus `low`: it holds for the
/// first ones. Places beyond them are not asked for; `size` is the most elements there can be, and
/// `valid` a place that can be asked for where there are none.
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
