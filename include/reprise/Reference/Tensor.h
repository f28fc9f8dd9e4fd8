// reprise: a dense tensor in host memory, as the interpreter sees it.
#ifndef REPRISE_REFERENCE_TENSOR_H
#define REPRISE_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "reprise/Runtime/Bundle.h"
#include <cstdint>
#include <vector>

namespace reprise {

/// Tensor with row-major elements in storage type: f32, f64, i32, i64 unchanged, bf16 and f16 as
/// their 16 bits, i1 as one byte.
class Tensor {
public:
  Tensor() = default;
  explicit Tensor(mlir::RankedTensorType type);

  mlir::RankedTensorType type;
  std::vector<uint8_t> bytes;

  int64_t size() const { return type.getNumElements(); }
  template <typename T> T *data() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *data() const { return reinterpret_cast<const T *>(bytes.data()); }
};

/// Returns the bytes of one element in memory: i1 takes one byte.
int64_t elementBytes(mlir::Type elementType);

/// Returns the element type as bundles and files name it.
runtime::DType dtypeOf(mlir::Type elementType);

/// Replaces every NaN by the quiet NaN without sign or payload, as in files, hashes and
/// comparisons.
void canonicalizeNaNs(Tensor &tensor);

} // namespace reprise

#endif
