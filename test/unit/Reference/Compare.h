// reprise: helpers for comparing one computation with another, bit by bit or nearly
#ifndef REPRISE_TEST_UNIT_REFERENCE_COMPARE_H
#define REPRISE_TEST_UNIT_REFERENCE_COMPARE_H

#include "Interpret.h"

#include <random>

namespace reprise::test {

/// Floats of any type around zero, to be told apart by seed.
inline Tensor randomTensor(mlir::RankedTensorType type, unsigned seed) {
  std::mt19937 words(seed);
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    float x = static_cast<float>(words() >> 8) * 0x1p-23f - 1;
    if (type.getElementType().isF64())
      tensor.data<double>()[i] = x;
    else if (type.getElementType().isF32())
      tensor.data<float>()[i] = x;
    else if (type.getElementType().isBF16())
      tensor.data<uint16_t>()[i] = reference::toBf16(x);
    else
      tensor.data<uint16_t>()[i] = reference::toF16(x);
  }
  return tensor;
}

/// Returns an element of a float tensor.
inline double valueAt(const Tensor &tensor, int64_t i) {
  mlir::Type type = tensor.type.getElementType();
  if (type.isF64())
    return tensor.data<double>()[i];
  if (type.isF32())
    return tensor.data<float>()[i];
  uint16_t bits = tensor.data<uint16_t>()[i];
  return type.isBF16() ? reference::fromBf16(bits) : reference::fromF16(bits);
}

inline void expectNear(const Tensor &actual, const Tensor &expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (int64_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(valueAt(actual, i), valueAt(expected, i), tolerance) << i;
}

inline void expectEqualBits(const Tensor &actual, const Tensor &expected) {
  EXPECT_EQ(actual.type, expected.type);
  ASSERT_EQ(actual.bytes.size(), expected.bytes.size());
  for (int64_t i = 0; i < actual.size(); ++i) {
    int64_t width = elementBytes(actual.type.getElementType());
    ASSERT_EQ(std::memcmp(&actual.bytes[i * width], &expected.bytes[i * width], width), 0)
        << "element " << i << ": " << valueAt(actual, i) << " and " << valueAt(expected, i);
  }
}

} // namespace reprise::test

#endif
