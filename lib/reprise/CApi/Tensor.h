// reprise: DLPack's tensors and the runtime's arrays
#ifndef REPRISE_LIB_CAPI_TENSOR_H
#define REPRISE_LIB_CAPI_TENSOR_H

#include "reprise-c/Reprise.h"
#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::capi {

/// Returns the runtime's type; none for a type that no argument has. Booleans may be given as
/// bytes.
std::optional<runtime::DType> toDType(DLDataType type, runtime::DType wanted);
DLDataType fromDType(runtime::DType dtype);

/// Returns the address of the first element.
inline uint8_t *startOf(const DLTensor &tensor) {
  return static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
}
inline std::vector<int64_t> shapeOf(const DLTensor &tensor) {
  return std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim);
}
/// Row-major, without gaps.
bool isDense(const DLTensor &tensor);
/// Returns whether elements do not overlap: no stride is negative, and each stride exceeds the
/// extent of all smaller ones.
bool isWritable(const DLTensor &tensor);

/// Copy between a tensor on the CPU and dense memory of the same shape.
void copyFrom(const DLTensor &tensor, uint64_t elementBytes, uint8_t *dense);
void copyTo(const DLTensor &tensor, uint64_t elementBytes, const uint8_t *dense);

} // namespace reprise::capi

#endif // REPRISE_LIB_CAPI_TENSOR_H
