// reprise: shape of a scatter by warps, which the compiler writes and the kernel reads
#ifndef REPRISE_KERNELS_CUDA_SCATTERSHAPE_H
#define REPRISE_KERNELS_CUDA_SCATTERSHAPE_H

#include <stdint.h>

namespace reprise::cuda {

/// Tables of `rows` single elements, with `updates` each.
struct WarpScatterShape {
  int64_t threads, tables; ///< threads of a block
  int64_t rows, updates;
  int64_t updateBuffer, resultBuffer;
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_SCATTERSHAPE_H
