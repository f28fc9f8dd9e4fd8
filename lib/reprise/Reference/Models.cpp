// reprise: index arithmetic and data movement of the interpreter.
#include "Models.h"

using namespace mlir;

namespace reprise::reference {

std::vector<int64_t> positions(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, int64_t offset) {
  if (llvm::is_contained(sizes, 0))
    return {};
  std::vector<int64_t> result = {offset};
  for (auto [size, stride] : llvm::zip(sizes, strides)) {
    std::vector<int64_t> next;
    next.reserve(result.size() * size);
    for (int64_t position : result)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(position + i * stride);
    result = std::move(next);
  }
  return result;
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
    strides[d] = stride;
  return strides;
}

Tensor gatherElements(RankedTensorType type, const Tensor &source, ArrayRef<int64_t> positions) {
  Tensor result(type);
  int64_t width = elementBytes(type.getElementType());
  for (auto [i, position] : llvm::enumerate(positions))
    std::memcpy(&result.bytes[i * width], &source.bytes[position * width], width);
  return result;
}

std::vector<int64_t> clampedIndices(const Tensor &indices, int64_t size) {
  std::vector<int64_t> clamped;
  withNumber(indices.type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> values(indices);
    for (int64_t i = 0; i < indices.size(); ++i)
      clamped.push_back(clampIndex(static_cast<int64_t>(values[i]), size));
  });
  return clamped;
}

/// The bits of one number in an element's width.
static uint64_t bitsOf(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(value).getValue().getZExtValue();
}

Tensor splatOf(RankedTensorType type, Attribute value) {
  Tensor result(type);
  uint64_t bits = bitsOf(value);
  int64_t width = elementBytes(type.getElementType());
  for (int64_t i = 0; i < result.size(); ++i)
    std::memcpy(&result.bytes[i * width], &bits, width);
  return result;
}

} // namespace reprise::reference
