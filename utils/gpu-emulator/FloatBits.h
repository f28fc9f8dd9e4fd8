// reprise: 16-bit floats and roundings, exact for every operand
#ifndef REPRISE_GPU_EMULATOR_FLOAT_BITS_H
#define REPRISE_GPU_EMULATOR_FLOAT_BITS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace reprise::emulator {

template <typename To, typename From> inline To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

/// The NaN of f32 results on a GPU.
inline float canonical(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  return bitCast<float>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}

inline float fromHalf(uint16_t half) {
  uint32_t magnitude = half & 0x7fff, bits = magnitude << 13;
  uint32_t finite = bitCast<uint32_t>(bitCast<float>(bits) * 0x1p112f);
  uint32_t result = magnitude >= 0x7c00 ? bits | 0x7f800000u : finite;
  return bitCast<float>(result | uint32_t(half & 0x8000) << 16);
}

/// Rounds to nearest, ties to even.
inline uint16_t toHalf(float value) {
  uint32_t bits = bitCast<uint32_t>(value), sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffffu;
  uint32_t normal = (bits - 0x38000000u + 0xfffu + (bits >> 13 & 1)) >> 13;
  // Below 2^-14 the unit is 2^-24, as for floats from 0.5 to 1: the addition rounds.
  uint32_t small = bitCast<uint32_t>(bitCast<float>(bits) + 0.5f) - 0x3f000000u;
  uint32_t result = bits < 0x38800000u ? small : normal;
  result = bits >= 0x477ff000u ? 0x7c00u : result;
  return bits > 0x7f800000u ? 0x7fffu : result | sign;
}

inline float fromBfloat(uint16_t value) { return bitCast<float>(uint32_t(value) << 16); }

inline uint16_t toBfloat(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded;
}

/// Rounds to odd: a later rounding to fewer bits then gives the result of a single rounding.
template <typename Wide> inline float toOddFloat(Wide value) {
  float rounded = static_cast<float>(value);
  if (static_cast<Wide>(rounded) == value || value != value)
    return rounded;
  uint32_t bits = bitCast<uint32_t>(rounded);
  bool outwards = value < 0 ? rounded < value : rounded > value;
  return bitCast<float>((bits - outwards) | 1u);
}

/// Returns a + b rounded to odd, for any order of magnitudes.
inline double addToOdd(double a, double b) {
  double sum = a + b, part = sum - a;
  double lost = (a - (sum - part)) + (b - part);
  if (!(lost != 0) || !std::isfinite(sum))
    return sum;
  uint64_t bits = bitCast<uint64_t>(sum);
  if (bits & 1)
    return sum;
  bool inwards = (lost < 0) == (sum > 0);
  return bitCast<double>(inwards ? bits - 1 : bits + 1);
}

/// Returns a · b + c with one rounding to the type of `to`.
template <typename To> inline uint16_t fusedNarrow(float a, float b, float c, To to) {
  double product = double(a) * double(b);
  return to(toOddFloat(addToOdd(product, double(c))));
}

enum class Round : uint8_t { Nearest, Zero, Down, Up, NearestAway };

/// Adjusts a value rounded to nearest to another direction. `step` makes the magnitude one unit
/// smaller (-1) or larger (1).
template <typename Value, typename Exact, typename Step>
inline Value redirect(Value nearest, double widened, Exact exact, Round round, Step step) {
  if (round == Round::Nearest || widened != widened || Exact(widened) == exact)
    return nearest;
  bool above = Exact(widened) > exact, negative = exact < 0;
  if (above && (round == Round::Down || (round == Round::Zero && !negative)))
    return step(nearest, negative ? 1 : -1);
  if (!above && (round == Round::Up || (round == Round::Zero && negative)))
    return step(nearest, negative ? -1 : 1);
  return nearest;
}

} // namespace reprise::emulator

#endif
