// reprise: DLPack's tensors and the runtime's arrays
#include "Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace reprise::capi;
using reprise::runtime::DType;

DLDataType reprise::capi::fromDType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return {kDLFloat, 32, 1};
  case DType::F64:
    return {kDLFloat, 64, 1};
  case DType::BF16:
    return {kDLBfloat, 16, 1};
  case DType::F16:
    return {kDLFloat, 16, 1};
  case DType::I32:
    return {kDLInt, 32, 1};
  case DType::I64:
    return {kDLInt, 64, 1};
  case DType::I1:
    return {kDLBool, 8, 1};
  }
  return {};
}

std::optional<DType> reprise::capi::toDType(DLDataType type, DType wanted) {
  bool isByte = type.code == kDLUInt && type.bits == 8 && type.lanes == 1;
  if (isByte && wanted == DType::I1)
    return DType::I1;
  for (unsigned i = 0; i < runtime::numDTypes; ++i) {
    DLDataType own = fromDType(static_cast<DType>(i));
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes)
      return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool reprise::capi::isDense(const DLTensor &tensor) {
  int64_t expected = 1;
  for (int32_t i = tensor.ndim; tensor.strides && i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected)
      return false;
    expected *= tensor.shape[i];
  }
  return true;
}

bool reprise::capi::isWritable(const DLTensor &tensor) {
  std::vector<std::pair<int64_t, uint64_t>> steps; // pairs of stride and size
  for (int32_t i = 0; tensor.strides && i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0)
      return true;
    if (tensor.shape[i] > 1)
      steps.push_back({tensor.strides[i], tensor.shape[i] - 1});
  }
  llvm::sort(steps);
  uint64_t reach = 0;
  for (auto [stride, times] : steps) {
    if (stride <= 0 || static_cast<uint64_t>(stride) <= reach)
      return false;
    reach = llvm::SaturatingMultiplyAdd<uint64_t>(stride, times, reach);
  }
  return true;
}

/// Calls visit(bytes from the tensor's start) for each element, in row-major order.
template <typename Visit>
static void forEachElement(const DLTensor &tensor, uint64_t bytes, Visit visit) {
  std::vector<int64_t> strides(tensor.ndim, 1);
  for (int32_t i = tensor.ndim - 1; i > 0; --i)
    strides[i - 1] = strides[i] * tensor.shape[i];
  if (tensor.strides)
    strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  std::vector<int64_t> index(tensor.ndim);
  int64_t count = 1, at = 0;
  for (int64_t size : shapeOf(tensor))
    count *= size;
  for (int64_t number = 0; number < count; ++number) {
    visit(at * static_cast<int64_t>(bytes));
    for (int32_t i = tensor.ndim; i-- > 0;) {
      at += strides[i];
      if (++index[i] < tensor.shape[i])
        break;
      at -= strides[i] * tensor.shape[i];
      index[i] = 0;
    }
  }
}

void reprise::capi::copyFrom(const DLTensor &tensor, uint64_t bytes, uint8_t *dense) {
  const uint8_t *start = startOf(tensor);
  forEachElement(tensor, bytes, [&](int64_t at) {
    std::memcpy(dense, start + at, bytes);
    dense += bytes;
  });
}

void reprise::capi::copyTo(const DLTensor &tensor, uint64_t bytes, const uint8_t *dense) {
  uint8_t *start = startOf(tensor);
  forEachElement(tensor, bytes, [&](int64_t at) {
    std::memcpy(start + at, dense, bytes);
    dense += bytes;
  });
}
