// reprise: conversions and integer arithmetic of the interpreter; every 16-bit rounding goes
// through one function.

#include "reprise/Reference/Numbers.h"
#include <cstring>
#include <limits>

namespace reprise::reference {
namespace {

/// A binary format of 16 bits: stored mantissa bits, and the exponent of the unit of its
/// subnormals.
struct Narrow {
  int mantissaBits;
  int leastUnit;
  uint16_t infinity;
  uint16_t quietNaN;
};
constexpr Narrow bf16 = {7, -133, 0x7F80, 0x7FC0};
constexpr Narrow f16 = {10, -24, 0x7C00, 0x7E00};

/// Position of the highest set bit; `value` is not 0.
int highestBit(uint64_t value) {
  int bit = 0;
  while (value >>= 1)
    ++bit;
  return bit;
}

/// Returns magnitude·2^exponent, rounded to nearest even.
uint16_t roundTo(const Narrow &format, bool negative, uint64_t magnitude, int exponent) {
  const uint16_t sign = negative ? 0x8000 : 0;
  if (magnitude == 0)
    return sign;
  // The unit in the last place of the result follows from the leading bit, but is at least that of
  // the subnormals.
  int unit = exponent + highestBit(magnitude) - format.mantissaBits;
  if (unit < format.leastUnit)
    unit = format.leastUnit;
  int dropped = unit - exponent;
  uint64_t units;
  if (dropped <= 0) {
    units = magnitude << -dropped;
  } else if (dropped > 64) {
    units = 0;
  } else {
    units = dropped == 64 ? 0 : magnitude >> dropped;
    uint64_t rest = dropped == 64 ? magnitude : magnitude & ((uint64_t(1) << dropped) - 1);
    uint64_t half = uint64_t(1) << (dropped - 1);
    if (rest > half || (rest == half && (units & 1)))
      ++units;
  }
  // A normal number's leading bit counts as one step of the exponent field, and a carry out of the
  // mantissa as another.
  uint64_t bits = units + (static_cast<uint64_t>(unit - format.leastUnit) << format.mantissaBits);
  return sign | static_cast<uint16_t>(bits < format.infinity ? bits : format.infinity);
}

uint16_t roundTo(const Narrow &format, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const bool negative = bits >> 63;
  const int field = static_cast<int>(bits >> 52) & 0x7FF;
  const uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (field == 0x7FF)
    return mantissa ? format.quietNaN : (negative ? 0x8000 : 0) | format.infinity;
  if (field == 0)
    return roundTo(format, negative, mantissa, -1074);
  return roundTo(format, negative, mantissa | uint64_t(1) << 52, field - 1075);
}

uint16_t roundTo(const Narrow &format, int64_t value) {
  return roundTo(format, value < 0, value < 0 ? -static_cast<uint64_t>(value) : value, 0);
}

template <typename I> I toInteger(double value) {
  // Both limits are powers of two, so they are exact.
  const double end = -static_cast<double>(std::numeric_limits<I>::min());
  if (value != value)
    return 0;
  if (value >= end)
    return std::numeric_limits<I>::max();
  if (value < -end)
    return std::numeric_limits<I>::min();
  return static_cast<I>(value);
}

template <typename I> I divideOf(I a, I b) {
  if (b == 0)
    return -1;
  if (b == -1 && a == std::numeric_limits<I>::min())
    return a;
  return a / b;
}

template <typename I> I remainderOf(I a, I b) {
  if (b == 0)
    return a;
  return b == -1 ? 0 : a % b;
}

} // namespace

float fromBf16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float fromF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7FFF;
  uint32_t wide;
  float value;
  if (magnitude < 0x0400) {
    // A subnormal is an integer number of 2^-24.
    value = static_cast<float>(magnitude) * 0x1p-24f;
    std::memcpy(&wide, &value, sizeof(wide));
  } else if (magnitude < 0x7C00) {
    wide = (magnitude << 13) + ((127 - 15) << 23);
  } else {
    wide = magnitude == 0x7C00 ? 0x7F800000 : 0x7FC00000;
  }
  wide |= sign;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t toBf16(float value) { return roundTo(bf16, static_cast<double>(value)); }
uint16_t toBf16(double value) { return roundTo(bf16, value); }
uint16_t toBf16(int64_t value) { return roundTo(bf16, value); }
uint16_t toF16(float value) { return roundTo(f16, static_cast<double>(value)); }
uint16_t toF16(double value) { return roundTo(f16, value); }
uint16_t toF16(int64_t value) { return roundTo(f16, value); }

int32_t toInt32(double value) { return toInteger<int32_t>(value); }
int64_t toInt64(double value) { return toInteger<int64_t>(value); }

int32_t divide(int32_t a, int32_t b) { return divideOf(a, b); }
int64_t divide(int64_t a, int64_t b) { return divideOf(a, b); }
int32_t remainder(int32_t a, int32_t b) { return remainderOf(a, b); }
int64_t remainder(int64_t a, int64_t b) { return remainderOf(a, b); }

} // namespace reprise::reference
