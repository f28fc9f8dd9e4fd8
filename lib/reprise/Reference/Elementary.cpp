// reprise: the elementary functions, scalar, by polynomials of this project.
//
// f32 and f64 run the same steps with other constants. The code generator emits the same operations
// in the same order (lib/reprise/Conversion/Elementary.cpp) and shares no code with this file.

#include "reprise/Reference/Elementary.h"
#include "Angle.h"
#include "Polynomials.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace reprise::reference {
namespace {

template <typename F> struct Format;

template <> struct Format<float> {
  using Bits = uint32_t;
  using Signed = int32_t;
  static constexpr int mantissaBits = 23, bias = 127;
  /// Parts of ln 2 = high + low; high has so few bits that a product with an exponent is exact.
  static constexpr float ln2High = 0x1.62e4p-1f, ln2Low = 0x1.7f7d1cp-20f;
  /// Parts of pi/2, all positive, since a negative part would turn -0 into +0.
  static constexpr float halfPi[] = {0x1.921fb4p+0f, 0x1.4442dp-24f, 0x1.84698ap-48f};
  /// Limits of exp: the result is 0 below the first and infinite above the second.
  static constexpr float expLowest = -104.0f, expHighest = 89.0f;
  /// Bounds beyond which the results are 1 to the last bit.
  static constexpr float tanhOne = 9.5f, erfOne = 4.0f, sigmoidOne = 30.0f;
  /// Limit above which the three parts of pi/2 are too few.
  static constexpr float sineLimit = 0x1p17f;
  /// Power of two by which log scales subnormal arguments.
  static constexpr int subnormalShift = 23;
};

template <> struct Format<double> {
  using Bits = uint64_t;
  using Signed = int64_t;
  static constexpr int mantissaBits = 52, bias = 1023;
  static constexpr double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
  static constexpr double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54,
                                      0x1.c1cd129024e09p-107};
  static constexpr double expLowest = -746.0, expHighest = 710.0;
  static constexpr double tanhOne = 20.0, erfOne = 6.0, sigmoidOne = 40.0;
  static constexpr double sineLimit = 0x1p40;
  static constexpr int subnormalShift = 52;
};

template <typename F> typename Format<F>::Bits bitsOf(F x) {
  typename Format<F>::Bits bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

template <typename F> F fromBits(typename Format<F>::Bits bits) {
  F x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Returns the number whose addition rounds a small number to an integer in the low bits.
template <typename F> constexpr F integerShift() {
  return static_cast<F>(uint64_t(3) << (Format<F>::mantissaBits - 1));
}

/// (((c[0]·x + c[1])·x + c[2])·x + …): each step one fma.
template <typename F, size_t N> F horner(const double (&coefficients)[N], F x) {
  F result = static_cast<F>(coefficients[0]);
  for (size_t i = 1; i < N; ++i)
    result = std::fma(result, x, static_cast<F>(coefficients[i]));
  return result;
}

#define REPRISE_POLYNOMIAL(NAME)                                                                   \
  float NAME##At(float x) { return horner(f32::NAME, x); }                                         \
  double NAME##At(double x) { return horner(f64::NAME, x); }
REPRISE_POLYNOMIAL(exponential)
REPRISE_POLYNOMIAL(powerOfTwo)
REPRISE_POLYNOMIAL(tanhSmall)
REPRISE_POLYNOMIAL(erfSmall)
REPRISE_POLYNOMIAL(erfLarge)
REPRISE_POLYNOMIAL(logarithm)
REPRISE_POLYNOMIAL(sine)
REPRISE_POLYNOMIAL(cosine)
#undef REPRISE_POLYNOMIAL

template <typename F> constexpr F log2e = static_cast<F>(1.4426950408889634074);
template <typename F> constexpr F ln2 = static_cast<F>(0.69314718055994530942);
template <typename F> constexpr F twoOverPi = static_cast<F>(0.63661977236758134308);

template <typename F> F withSignOf(F magnitude, F sign) {
  using Bits = typename Format<F>::Bits;
  constexpr Bits signBit = Bits(1) << (8 * sizeof(F) - 1);
  return fromBits<F>((bitsOf(magnitude) & ~signBit) | (bitsOf(sign) & signBit));
}

template <typename F> F absolute(F x) {
  using Bits = typename Format<F>::Bits;
  return fromBits<F>(bitsOf(x) & ~(Bits(1) << (8 * sizeof(F) - 1)));
}

/// Splits base·exponent in base 2 into 2^n (scaled by 2^-bias·2^bias: the bits of n + bias, shifted
/// into the exponent) and the rest r = base·exponent - n.
template <typename F> struct BinaryPower {
  F scale;
  F rest;
  BinaryPower(F base, F exponent) {
    const F shift = integerShift<F>() + Format<F>::bias;
    F shifted = std::fma(base, exponent, shift);
    F n = shifted - shift;
    rest = std::fma(base, exponent, -n);
    scale = fromBits<F>(bitsOf(shifted) << Format<F>::mantissaBits);
  }
};

template <typename F> F expOf(F x) {
  using Fmt = Format<F>;
  F clamped = Fmt::expHighest < x ? Fmt::expHighest : x;
  clamped = clamped < Fmt::expLowest ? Fmt::expLowest : clamped;
  // Twice the bias: the two halves of n take one each.
  const F shift = integerShift<F>() + 2 * Fmt::bias;
  F shifted = std::fma(clamped, log2e<F>, shift);
  F n = shifted - shift;
  F r = std::fma(n, -Fmt::ln2High, clamped);
  r = std::fma(n, -Fmt::ln2Low, r);
  F p = std::fma(std::fma(exponentialAt(r), r, F(1)), r, F(1));
  // 2^n as a product of two halves, so that only the last product rounds, also to a subnormal.
  auto bits = bitsOf(shifted), half = bits >> 1;
  return p * fromBits<F>(half << Fmt::mantissaBits) *
         fromBits<F>((bits - half) << Fmt::mantissaBits);
}

/// Returns the log of a positive normal number times 2^-shift.
template <typename F> F logOfNormal(F x, F shift) {
  using Fmt = Format<F>;
  using Bits = typename Fmt::Bits;
  // Split x = m·2^k with m in [2/3, 4/3).
  const Bits twoThirds = bitsOf(static_cast<F>(2.0 / 3.0));
  const Bits exponentMask = ~Bits(0) << Fmt::mantissaBits;
  Bits exponent = (bitsOf(x) - twoThirds) & exponentMask;
  F f = fromBits<F>(bitsOf(x) - exponent) - F(1);
  F k = static_cast<F>(static_cast<typename Fmt::Signed>(exponent) >> Fmt::mantissaBits) - shift;
  F p = std::fma(logarithmAt(f), f * f, f);
  return std::fma(k, ln2<F>, p);
}

template <typename F> F logOf(F x) {
  using Fmt = Format<F>;
  constexpr F infinity = std::numeric_limits<F>::infinity();
  if (!(x > 0))
    return x == 0 ? -infinity : std::numeric_limits<F>::quiet_NaN();
  if (x == infinity)
    return x;
  if (x < std::numeric_limits<F>::min())
    return logOfNormal(x * static_cast<F>(uint64_t(1) << Fmt::subnormalShift),
                       static_cast<F>(Fmt::subnormalShift));
  return logOfNormal(x, F(0));
}

template <typename F> F tanhOf(F x) {
  F magnitude = absolute(x);
  if (!(magnitude > static_cast<F>(0.625))) {
    F s = x * x;
    return withSignOf(std::fma(tanhSmallAt(s) * s, magnitude, magnitude), x);
  }
  // 1 - 2/(e^2x + 1), with e^2x = scale·(1 + w).
  F clamped = magnitude < Format<F>::tanhOne ? magnitude : Format<F>::tanhOne;
  BinaryPower<F> power(clamped, 2 * log2e<F>);
  F w = powerOfTwoAt(power.rest) * power.rest;
  F denominator = std::fma(w, power.scale, power.scale + 1);
  return withSignOf(1 - 2 / denominator, x);
}

template <typename F> F erfOf(F x) {
  F magnitude = absolute(x);
  if (!(magnitude > static_cast<F>(0.85))) {
    F s = x * x;
    return withSignOf(std::fma(erfSmallAt(s), magnitude, magnitude), x);
  }
  // 1 - erfc, with erfc = 2^(t·u(t)) = scale·(1 + w).
  F t = magnitude < Format<F>::erfOne ? magnitude : Format<F>::erfOne;
  BinaryPower<F> power(t, erfLargeAt(t));
  F w = powerOfTwoAt(power.rest) * power.rest;
  return withSignOf(std::fma(-w, power.scale, 1 - power.scale), x);
}

template <typename F> F sigmoidOf(F x) {
  using Fmt = Format<F>;
  F clamped = Fmt::sigmoidOne < x ? Fmt::sigmoidOne : x;
  clamped = clamped < Fmt::expLowest ? Fmt::expLowest : clamped;
  // We compute one/(one + one·e^-x), where `one` is a power of two that keeps e^-x finite, so that
  // only the quotient rounds to a subnormal.
  constexpr int down = sizeof(F) == 4 ? 26 : 60;
  const F one = static_cast<F>(1) / static_cast<F>(uint64_t(1) << down);
  const F shift = integerShift<F>() + (Fmt::bias - down);
  F shifted = std::fma(clamped, -log2e<F>, shift);
  F n = shifted - shift;
  F r = std::fma(n, -Fmt::ln2High, -clamped);
  r = std::fma(n, -Fmt::ln2Low, r);
  F scale = fromBits<F>(bitsOf(shifted) << Fmt::mantissaBits);
  F w = std::fma(exponentialAt(r) * r, r, r);
  F denominator = std::fma(scale, w, one) + scale;
  return one / denominator;
}

/// Returns x - turn·pi/2 for the nearest `turn`, given modulo 4; x is finite.
template <typename F> F reduceAngle(F x, unsigned &turn) {
  using Fmt = Format<F>;
  if (absolute(x) > Fmt::sineLimit)
    return static_cast<F>(reduceLargeAngle(static_cast<double>(x), turn));
  F shifted = std::fma(x, twoOverPi<F>, integerShift<F>());
  F n = shifted - integerShift<F>();
  turn = bitsOf(shifted) & 3;
  F r = x;
  for (F part : Fmt::halfPi)
    r = std::fma(n, -part, r);
  return r;
}

/// Returns sin(x + quadrant·pi/2).
template <typename F> F sineFromQuadrant(F x, unsigned quadrant) {
  if (!(absolute(x) <= std::numeric_limits<F>::max()))
    return std::numeric_limits<F>::quiet_NaN();
  unsigned turn;
  F r = reduceAngle(x, turn);
  turn += quadrant;
  F s = r * r;
  F sine = withSignOf(std::fma(sineAt(s) * s, r, r), r); // without it sin(-0) would be +0
  F cosine = std::fma(std::fma(cosineAt(s), s, F(-0.5)), s, F(1));
  F value = turn & 1 ? cosine : sine;
  return turn & 2 ? -value : value;
}

template <typename F> F maximumOf(F a, F b) {
  if (a != a || b != b)
    return std::numeric_limits<F>::quiet_NaN();
  if (a == b)
    return fromBits<F>(bitsOf(a) & bitsOf(b)); // equal, or zeros: +0 if either is
  return a > b ? a : b;
}

template <typename F> F minimumOf(F a, F b) {
  if (a != a || b != b)
    return std::numeric_limits<F>::quiet_NaN();
  if (a == b)
    return fromBits<F>(bitsOf(a) | bitsOf(b));
  return a < b ? a : b;
}

} // namespace

float exp(float x) { return expOf(x); }
double exp(double x) { return expOf(x); }
float log(float x) { return logOf(x); }
double log(double x) { return logOf(x); }
float tanh(float x) { return tanhOf(x); }
double tanh(double x) { return tanhOf(x); }
float erf(float x) { return erfOf(x); }
double erf(double x) { return erfOf(x); }
float sigmoid(float x) { return sigmoidOf(x); }
double sigmoid(double x) { return sigmoidOf(x); }
float sqrt(float x) { return std::sqrt(x); }
double sqrt(double x) { return std::sqrt(x); }
float rsqrt(float x) { return 1 / std::sqrt(x); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
float sin(float x) { return sineFromQuadrant(x, 0); }
double sin(double x) { return sineFromQuadrant(x, 0); }
float cos(float x) { return sineFromQuadrant(x, 1); }
double cos(double x) { return sineFromQuadrant(x, 1); }

void sinCosOfTurn(float u, float &sine, float &cosine) {
  // Split u·4 = q + y with y in [-1/2, 1/2], exactly.
  float quarters = u * 4;
  float shifted = quarters + integerShift<float>();
  float y = quarters - (shifted - integerShift<float>());
  float s = y * y;
  // The polynomial excludes f32(pi/2), and so corrects its rounding.
  float sineOfRest = std::fma(y, 0x1.921fb6p+0f, horner(f32::sineOfTurn, s) * y);
  float cosineOfRest = horner(f32::cosineOfTurn, s);
  uint32_t turn = bitsOf(shifted);
  float sineMagnitude = turn & 1 ? cosineOfRest : sineOfRest;
  float cosineMagnitude = turn & 1 ? sineOfRest : cosineOfRest;
  sine = turn & 2 ? -sineMagnitude : sineMagnitude;
  cosine = (turn + 1) & 2 ? -cosineMagnitude : cosineMagnitude;
}

float maximum(float a, float b) { return maximumOf(a, b); }
double maximum(double a, double b) { return maximumOf(a, b); }
float minimum(float a, float b) { return minimumOf(a, b); }
double minimum(double a, double b) { return minimumOf(a, b); }

} // namespace reprise::reference
