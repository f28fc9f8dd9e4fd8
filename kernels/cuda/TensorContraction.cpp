// reprise: the kernels of contractions on tensor cores, one per type, tile and number of warps
#include "TensorContraction.h"

using namespace reprise::cuda;

/// Defines tensor_contraction_<element>_<rows>x<columns>_<warps>.
#define KERNEL(name, Element, rows, columns, warps)                                                \
  extern "C" void tensor_contraction_##name##_##rows##x##columns##_##warps(const Launch &launch) { \
    TensorContraction<Element, rows, columns, warps>(launch).run();                                \
  }

/// Each warp of eight has at least 16 rows and columns of the tile.
#define EIGHT_WARPS(name, Element)                                                                 \
  KERNEL(name, Element, 32, 64, 8)                                                                 \
  KERNEL(name, Element, 32, 128, 8)                                                                \
  KERNEL(name, Element, 64, 32, 8)                                                                 \
  KERNEL(name, Element, 64, 64, 8)                                                                 \
  KERNEL(name, Element, 64, 128, 8)                                                                \
  KERNEL(name, Element, 128, 32, 8)                                                                \
  KERNEL(name, Element, 128, 64, 8)                                                                \
  KERNEL(name, Element, 128, 128, 8)
#define FOUR_WARPS(name, Element)                                                                  \
  KERNEL(name, Element, 32, 32, 4)                                                                 \
  KERNEL(name, Element, 32, 64, 4)                                                                 \
  KERNEL(name, Element, 32, 128, 4)                                                                \
  KERNEL(name, Element, 64, 32, 4)                                                                 \
  KERNEL(name, Element, 64, 64, 4)                                                                 \
  KERNEL(name, Element, 64, 128, 4)                                                                \
  KERNEL(name, Element, 128, 32, 4)                                                                \
  KERNEL(name, Element, 128, 64, 4)                                                                \
  KERNEL(name, Element, 128, 128, 4)

EIGHT_WARPS(bf16, Bf16)
EIGHT_WARPS(f16, F16)
EIGHT_WARPS(tf32, Tf32)
FOUR_WARPS(bf16, Bf16)
FOUR_WARPS(f16, F16)
