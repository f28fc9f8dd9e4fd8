// reprise: x^y, scalar, by logarithms with more digits than the result.
#include "Polynomials.h"
#include "reprise/Reference/Elementary.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace reprise::reference {
namespace {

uint64_t bitsOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

double fromBits(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

template <size_t N> double horner(const double (&coefficients)[N], double x) {
  double result = coefficients[0];
  for (size_t i = 1; i < N; ++i)
    result = std::fma(result, x, coefficients[i]);
  return result;
}

/// Split x = mantissa·2^exponent with the mantissa in [least, 2·least); x is positive and normal.
struct Split {
  double mantissa, exponent;
  Split(double x, double least) {
    uint64_t exponentBits = (bitsOf(x) - bitsOf(least)) & 0xfff0000000000000;
    mantissa = fromBits(bitsOf(x) - exponentBits);
    exponent = static_cast<double>(static_cast<int64_t>(exponentBits) >> 52);
  }
};

/// Unevaluated sum of two numbers, the second far below the first.
struct Pair {
  double high, low;
};

/// Returns a + b, if a is 0 or not below b.
Pair sumOf(double a, double b) {
  double sum = a + b;
  return {sum, b - (sum - a)};
}

Pair product(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }

/// Returns the product without the product of the low parts.
Pair product(Pair a, Pair b) {
  Pair p = product(a.high, b.high);
  return {p.high, p.low + (a.high * b.low + a.low * b.high)};
}

/// Returns log2 of a positive number, with a relative error of about 2^-66: with s = (m - 1)/(m +
/// 1) and z = s², log(m) = 2·(s + s·(z·(1/3 + z·Q(z)))).
Pair log2Of(double x) {
  bool subnormal = x < std::numeric_limits<double>::min();
  Split split(subnormal ? x * 0x1p52 : x, 0x1.6a09e667f3bcdp-1);
  double exponent = split.exponent - (subnormal ? 52 : 0);
  double a = split.mantissa - 1;
  Pair b = sumOf(1, split.mantissa);
  double quotient = a / b.high;
  double remainder = std::fma(-quotient, b.low, std::fma(-quotient, b.high, a));
  Pair s{quotient, remainder / b.high};
  Pair z = product(s, s);
  Pair third = sumOf(0x1.5555555555555p-2, z.high * horner(f64::inverseTanh, z.high));
  third.low += 0x1.5555555555555p-56;
  Pair bend = product(s, product(z, third));
  Pair half = sumOf(s.high, bend.high);
  half.low += s.low + bend.low;
  Pair log = product(half, Pair{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55});
  Pair sum = sumOf(exponent, log.high);
  return {sum.high, sum.low + log.low};
}

double limit(double x, double most) { return x < -most ? -most : x > most ? most : x; }

/// Returns x^y of positive finite x and finite y.
double powerOf(double x, double y) {
  Pair log = log2Of(x), power = product(y, log.high);
  power.low += y * log.low;
  double whole = limit(power.high, 1100);
  // Beyond the limit the rest is no number, or of no account.
  double rest = whole == power.high ? power.low : 0;
  constexpr double shift = 0x1.8p52 + 2 * 1023;
  double shifted = whole + shift;
  double r = whole - (shifted - shift);
  // 2^(r + rest) = exp(h)·(1 + l) with h + l = (r + rest)·log 2 and exp(h) = 1 + h + bend.
  constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2Low = 0x1.abc9e3b39803fp-56;
  double h = r * ln2;
  double l = std::fma(rest, ln2, std::fma(r, ln2Low, std::fma(r, ln2, -h)));
  double bend = horner(f64::exponential, h) * h * h;
  Pair sum = sumOf(1, h);
  double result = sum.high + (sum.low + (bend + std::fma(l, h + bend, l)));
  // 2^n in two factors, so that only the last product rounds, also to a subnormal.
  uint64_t bits = bitsOf(shifted), half = bits >> 1;
  return result * fromBits(half << 52) * fromBits((bits - half) << 52);
}

/// Returns x^y, computed in f64; the result then rounds once more.
float powerOf(float x, float y) {
  Split split(x, 2.0 / 3.0);
  double f = split.mantissa - 1;
  double log = std::fma(horner(f64::shortLogarithm, f), f * f, f);
  double power = limit(std::fma(log, 1.4426950408889634074, split.exponent) * y, 200);
  constexpr double shift = 0x1.8p52 + 1023;
  double shifted = power + shift;
  double r = power - (shifted - shift);
  double w = horner(f64::shortPowerOfTwo, r) * r;
  double scale = fromBits(bitsOf(shifted) << 52);
  return static_cast<float>(std::fma(w, scale, scale));
}

template <typename F> F powOf(F x, F y) {
  constexpr F infinity = std::numeric_limits<F>::infinity();
  constexpr F nan = std::numeric_limits<F>::quiet_NaN();
  if (y == 0 || x == 1)
    return 1;
  if (x != x || y != y)
    return nan;
  bool whole = std::floor(y) == y, odd = whole && std::floor(y * F(0.5)) != y * F(0.5);
  if (x < 0 && x != -infinity && !whole)
    return nan;
  F base = std::fabs(x), magnitude;
  if (base == 1)
    magnitude = 1;
  else if (base == 0 || base == infinity || std::fabs(y) == infinity)
    magnitude = (base > 1) == (y > 0) ? infinity : 0;
  else
    magnitude = powerOf(base, y);
  return odd && std::signbit(x) ? -magnitude : magnitude;
}

} // namespace

float pow(float x, float y) { return powOf(x, y); }
double pow(double x, double y) { return powOf(x, y); }

} // namespace reprise::reference
