// reprise: shape of a sort of rows, which the compiler writes and the kernel reads
#ifndef REPRISE_KERNELS_CUDA_SORTSHAPE_H
#define REPRISE_KERNELS_CUDA_SORTSHAPE_H

#include <stdint.h>

namespace reprise::cuda {

/// Numbers of one command of a sort. Rows have `n` elements, of which the first `kept` in the order
/// of keys are stored. Runs of `length` elements are made, or merged in pairs.
struct SortShape {
  int64_t threads, items; ///< of a block, and of the command
  int64_t n, kept, length;
  int64_t numberBytes;    ///< 4 or 8: bytes of an element's number in memory
  int64_t source, target; ///< buffers of numbers; target -1: sort_store() takes the elements
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_SORTSHAPE_H
