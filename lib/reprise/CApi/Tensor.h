// reprise: DLPack's tensors and the runtime's arrays
#ifndef REPRISE_LIB_CAPI_TENSOR_H
#define REPRISE_LIB_CAPI_TENSOR_H

#include "reprise-c/Reprise.h"
#include "reprise/Runtime/Bundle.h"

#include <optional>

namespace reprise::capi {

/// None for a type that no argument has. Booleans may come as bytes.
std::optional<runtime::DType> toDType(DLDataType type, runtime::DType wanted);
DLDataType fromDType(runtime::DType dtype);

/// Where its first element is.
inline uint8_t *startOf(const DLTensor &tensor) {
  return static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
}
inline std::vector<int64_t> shapeOf(const DLTensor &tensor) {
  return std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim);
}
/// Row-major, without gaps.
bool isDense(const DLTensor &tensor);
/// Whether no stride is negative, and each but the least one steps over all that the lesser ones
/// reach, so that no element lies where another does.
bool isWritable(const DLTensor &tensor);

/// Copies between a tensor on the CPU and dense memory of the same shape.
void copyFrom(const DLTensor &tensor, uint64_t elementBytes, uint8_t *dense);
void copyTo(const DLTensor &tensor, uint64_t elementBytes, const uint8_t *dense);

} // namespace reprise::capi

#endif // REPRISE_LIB_CAPI_TENSOR_H
