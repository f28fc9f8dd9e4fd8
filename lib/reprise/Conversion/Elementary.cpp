// reprise: emission of the elementary functions.
//
// The operations and their order are those of lib/reprise/Reference/Elementary.cpp, which explains
// every step; the two share no code, and test/unit/Conversion/ElementaryTest.cpp compares them to
// the bit. Branches become selects, so each branch is computed for every lane and must not trap for
// any value.

#include "reprise/Conversion/Elementary.h"
#include "Lanes.h"
#include "Polynomials.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace reprise::emission;

namespace reprise {
namespace {

constexpr double log2e = 1.4426950408889634074;
constexpr double ln2 = 0.69314718055994530942;

/// Parts of ln 2; a product of the first part with an exponent is exact.
struct Ln2 {
  double high, low;
  explicit Ln2(const Lanes &l)
      : high(l.format.isDouble ? 0x1.62e42feep-1 : 0x1.62e4p-1),
        low(l.format.isDouble ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cp-20) {}
};

double expLowest(const Lanes &l) { return l.format.isDouble ? -746 : -104; }

/// Splits base·exponent = n + rest: returns 2^n and (2^rest - 1).
std::pair<Value, Value> emitBinaryPower(Lanes &l, Value base, Value exponent) {
  Value shift = l.f(l.format.integerShift() + l.format.bias());
  Value shifted = l.fma(base, exponent, shift);
  Value n = l.sub(shifted, shift);
  Value rest = l.fma(base, exponent, l.neg(n));
  Value scale = l.fromBits(l.shiftLeft(l.toBits(shifted), l.format.mantissaBits()));
  Value w = l.mul(l.horner(f32::powerOfTwo, f64::powerOfTwo, rest), rest);
  return {scale, w};
}

} // namespace

Value emitExp(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  Ln2 parts(l);
  Value clamped = l.lesser(l.f(l.format.isDouble ? 710 : 89), x);
  clamped = l.greater(l.f(expLowest(l)), clamped);
  Value shift = l.f(l.format.integerShift() + 2 * l.format.bias());
  Value shifted = l.fma(clamped, l.f(log2e), shift);
  Value n = l.sub(shifted, shift);
  Value r = l.fma(n, l.f(-parts.high), clamped);
  r = l.fma(n, l.f(-parts.low), r);
  Value p = l.horner(f32::exponential, f64::exponential, r);
  p = l.fma(l.fma(p, r, l.f(1)), r, l.f(1));
  Value bits = l.toBits(shifted);
  Value half = l.shiftRight(bits, 1);
  Value first = l.fromBits(l.shiftLeft(half, l.format.mantissaBits()));
  Value second = l.fromBits(l.shiftLeft(l.subBits(bits, half), l.format.mantissaBits()));
  return l.mul(l.mul(p, first), second);
}

Value emitLogOfNormal(Lanes &l, Value x, Value shift) {
  Value bits = l.toBits(x);
  const int64_t twoThirds = l.format.isDouble ? 0x3fe5555555555555 : 0x3f2aaaab;
  Value exponent =
      l.andBits(l.subBits(bits, l.i(twoThirds)), l.i(upperBits(l.format.mantissaBits())));
  Value f = l.sub(l.fromBits(l.subBits(bits, exponent)), l.f(1));
  Value k = arith::ShRSIOp::create(l.b, exponent, l.i(l.format.mantissaBits()));
  // Most CPUs convert a vector of i64 lane by lane, but not a vector of i32.
  if (l.format.isDouble)
    k = arith::TruncIOp::create(l.b, shapedAs(l.floats, l.b.getI32Type()), k);
  k = arith::SIToFPOp::create(l.b, l.floats, k);
  if (shift)
    k = l.sub(k, shift);
  Value p = l.fma(l.horner(f32::logarithm, f64::logarithm, f), l.mul(f, f), f);
  return l.fma(k, l.f(ln2), p);
}

Value emitLog(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  const int64_t infinity = l.format.isDouble ? 0x7ff0000000000000 : 0x7f800000;
  const int64_t leastNormal = int64_t(1) << l.format.mantissaBits();
  const double shift = l.format.mantissaBits();
  Value bits = l.toBits(x);
  Value subnormal = l.compare(arith::CmpIPredicate::slt, bits, l.i(leastNormal));
  Value scaled = l.select(subnormal, l.mul(x, l.f(std::ldexp(1.0, l.format.mantissaBits()))), x);
  Value value = emitLogOfNormal(l, scaled, l.select(subnormal, l.f(shift), l.f(0)));
  // Zeros, negatives, infinity and NaN.
  Value zero = l.compare(arith::CmpFPredicate::OEQ, x, l.f(0));
  Value special = l.select(zero, l.f(-std::numeric_limits<double>::infinity()),
                           l.f(std::numeric_limits<double>::quiet_NaN()));
  special = l.select(l.less(l.f(0), x), x, special);
  Value regular = l.compare(arith::CmpIPredicate::ult, l.subBits(bits, l.i(1)), l.i(infinity - 1));
  return l.select(regular, value, special);
}

Value emitTanh(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  Value magnitude = emitAbsolute(l, x);
  Value s = l.mul(x, x);
  Value p = l.mul(l.horner(f32::tanhSmall, f64::tanhSmall, s), s);
  Value small = l.fma(p, magnitude, magnitude);
  Value clamped = l.lesser(magnitude, l.f(l.format.isDouble ? 20.0 : 9.5));
  auto [scale, w] = emitBinaryPower(l, clamped, l.f(2 * log2e));
  Value denominator = l.fma(w, scale, l.add(scale, l.f(1)));
  // Doubling is exact, and a GPU computes 1/x with fewer instructions than 2/x.
  Value large = l.fma(l.f(-2), l.div(l.f(1), denominator), l.f(1));
  Value isLarge = l.less(l.f(0.625), magnitude);
  return emitWithSignOf(l, l.select(isLarge, large, small), x);
}

Value emitErf(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  Value magnitude = emitAbsolute(l, x);
  Value s = l.mul(x, x);
  Value small = l.fma(l.horner(f32::erfSmall, f64::erfSmall, s), magnitude, magnitude);
  Value t = l.lesser(magnitude, l.f(l.format.isDouble ? 6.0 : 4.0));
  auto [scale, w] = emitBinaryPower(l, t, l.horner(f32::erfLarge, f64::erfLarge, t));
  Value large = l.fma(l.neg(w), scale, l.sub(l.f(1), scale));
  Value isLarge = l.less(l.f(0.85), magnitude);
  return emitWithSignOf(l, l.select(isLarge, large, small), x);
}

Value emitSigmoid(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  Ln2 parts(l);
  const int down = l.format.isDouble ? 60 : 26;
  Value one = l.f(std::ldexp(1.0, -down));
  Value clamped = l.lesser(l.f(l.format.isDouble ? 40 : 30), x);
  clamped = l.greater(l.f(expLowest(l)), clamped);
  Value shift = l.f(l.format.integerShift() + (l.format.bias() - down));
  Value shifted = l.fma(clamped, l.f(-log2e), shift);
  Value n = l.sub(shifted, shift);
  Value r = l.fma(n, l.f(-parts.high), l.neg(clamped));
  r = l.fma(n, l.f(-parts.low), r);
  Value scale = l.fromBits(l.shiftLeft(l.toBits(shifted), l.format.mantissaBits()));
  Value p = l.horner(f32::exponential, f64::exponential, r);
  Value w = l.fma(l.mul(p, r), r, r);
  Value denominator = l.add(l.fma(scale, w, one), scale);
  return l.div(one, denominator);
}

Value emitSqrt(ImplicitLocOpBuilder &b, Value x) { return math::SqrtOp::create(b, x); }

Value emitRsqrt(ImplicitLocOpBuilder &b, Value x) {
  Lanes l(b, x);
  return l.div(l.f(1), emitSqrt(b, x));
}

Value emitMaximum(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::MaximumFOp::create(b, x, y);
}

Value emitMinimum(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::MinimumFOp::create(b, x, y);
}

} // namespace reprise
