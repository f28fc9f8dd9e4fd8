// reprise: the kernels of contractions on tensor cores, one per type, tile and number of warps
#include "TensorContraction.h"

using namespace reprise::cuda;

/// Defines tensor_contraction_<element>_<rows>x<columns>_<warps>.
#define KERNEL(name, Element, rows, columns, warps)                                                \
  extern "C" void tensor_contraction_##name##_##rows##x##columns##_##warps(const Launch &launch) { \
    TensorContraction<Element, rows, columns, warps>(launch).run();                                \
  }

/// Tiles in which each of eight warps has at least 16 rows and columns.
#define KERNELS(name, Element, warps)                                                              \
  KERNEL(name, Element, 32, 64, warps)                                                             \
  KERNEL(name, Element, 32, 128, warps)                                                            \
  KERNEL(name, Element, 64, 32, warps)                                                             \
  KERNEL(name, Element, 64, 64, warps)                                                             \
  KERNEL(name, Element, 64, 128, warps)                                                            \
  KERNEL(name, Element, 128, 32, warps)                                                            \
  KERNEL(name, Element, 128, 64, warps)                                                            \
  KERNEL(name, Element, 128, 128, warps)

KERNELS(bf16, Bf16, 8)
KERNELS(f16, F16, 8)
KERNELS(tf32, Tf32, 8)
KERNELS(bf16, Bf16, 4)
KERNELS(f16, F16, 4)
KERNEL(bf16, Bf16, 32, 32, 4)
KERNEL(f16, F16, 32, 32, 4)
