// reprise: places of the elements of a contraction's operands, for the kernels of GPUs
#ifndef REPRISE_CONVERSION_CUDA_CONTRACTIONINDEX_H
#define REPRISE_CONVERSION_CUDA_CONTRACTIONINDEX_H

#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/KernelBuilder.h"

namespace reprise {

/// The number of indices that dimensions have together.
template <typename Dims> int64_t countOf(const Dims &dims) {
  int64_t count = 1;
  for (const auto &dim : dims)
    count *= dim.size;
  return count;
}

inline int64_t strideOfLhs(const SharedDim &dim) { return dim.lhsStride; }
inline int64_t strideOfRhs(const SharedDim &dim) { return dim.rhsStride; }
inline int64_t strideOf(const FreeDim &dim) { return dim.stride; }

/// The distance of an index of some dimensions, in row-major order, from their first element.
template <typename Dims, typename Stride>
mlir::Value locate(KernelBuilder &k, const Dims &dims, mlir::Value index, Stride stride) {
  mlir::Value distance = k.i64(0);
  for (const auto &dim : llvm::reverse(dims)) {
    bool isLast = &dim == &dims.front();
    mlir::Value digit = isLast ? index : k.rem(index, dim.size);
    distance = k.add(distance, k.mul(digit, stride(dim)));
    if (!isLast)
      index = k.div(index, dim.size);
  }
  return distance;
}

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_CONTRACTIONINDEX_H
