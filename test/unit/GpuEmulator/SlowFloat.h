// reprise: formats of 16 bits, slow and obvious: the judge of the emulator's conversions
#ifndef REPRISE_TEST_GPU_EMULATOR_SLOW_FLOAT_H
#define REPRISE_TEST_GPU_EMULATOR_SLOW_FLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace reprise::emulator {

template <typename To, typename From> To bitsAs(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

/// Float with 113 bits of mantissa if the compiler has it: sums of products of small numbers are
/// exact, or differ from a tie by more than the error.
using Exact = __float128;

struct SlowFormat {
  int exponentBits, mantissaBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint64_t infinity() const { return ((1ull << exponentBits) - 1) << mantissaBits; }

  Exact widen(uint64_t bits) const {
    uint64_t mantissa = bits & ((1ull << mantissaBits) - 1);
    int exponent = int(bits >> mantissaBits) & ((1 << exponentBits) - 1);
    double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
    if (exponent == (1 << exponentBits) - 1)
      return mantissa ? NAN : sign * INFINITY;
    double value = exponent ? double(mantissa) + double(1ull << mantissaBits) : double(mantissa);
    return sign * std::ldexp(value, (exponent ? exponent : 1) - bias() - mantissaBits);
  }

  /// Rounds to nearest, ties to even, by search: the largest magnitude that is not above, or the
  /// next.
  uint64_t round(Exact value) const {
    if (value != value)
      return (1ull << (exponentBits + mantissaBits)) - 1;
    bool negative = value < 0 || (value == 0 && std::signbit(double(value)));
    Exact magnitude = negative ? -value : value;
    // Bits of magnitudes are in the order of magnitudes.
    uint64_t low = 0, high = infinity();
    while (high - low > 1) {
      uint64_t middle = (low + high) / 2;
      (widen(middle) <= magnitude ? low : high) = middle;
    }
    // The place of infinity is where the next number would be.
    Exact next = high == infinity() ? Exact(std::ldexp(1.0, bias() + 1)) : widen(high);
    Exact below = magnitude - widen(low), above = next - magnitude;
    bool up = below > above || (below == above && (low & 1));
    if (magnitude >= next)
      up = true;
    return (up ? high : low) | uint64_t(negative) << (exponentBits + mantissaBits);
  }
};
constexpr SlowFormat halfFormat{5, 10}, bfloatFormat{8, 7};

} // namespace reprise::emulator

#endif
