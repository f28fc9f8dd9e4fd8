// reprise: emission of x^y.
//
// The steps are those of lib/reprise/Reference/Power.cpp, which explains them. Special values are
// selected at the end; the logarithm computes arbitrary numbers or NaN for them.

#include "Lanes.h"
#include "Polynomials.h"
#include "reprise/Conversion/Elementary.h"

#include <limits>

using namespace mlir;
using namespace reprise::emission;

namespace reprise {
namespace {

/// Unevaluated sum of two numbers, the second far below the first.
struct Pair {
  Value high, low;
};

/// Operations on f64 and on pairs of f64.
class PairLanes : public Lanes {
public:
  PairLanes(ImplicitLocOpBuilder &b, Type like) : Lanes(b, shapedAs(like, b.getF64Type())) {}

  /// Returns a + b, if a is 0 or not below b.
  Pair sumOf(Value a, Value b) {
    Value sum = add(a, b);
    return {sum, sub(b, sub(sum, a))};
  }
  Pair product(Value a, Value b) {
    Value high = mul(a, b);
    return {high, fma(a, b, neg(high))};
  }
  /// Returns the product without the product of the low parts.
  Pair product(Pair a, Pair b) {
    Pair p = product(a.high, b.high);
    return {p.high, add(p.low, add(mul(a.high, b.low), mul(a.low, b.high)))};
  }

  /// Splits x = mantissa·2^exponent with the mantissa in [least, 2·least).
  std::pair<Value, Value> split(Value x, double least) {
    Value bits = toBits(x), bound = toBits(f(least));
    Value exponentBits = andBits(subBits(bits, bound), i(upperBits(52)));
    Value exponent = mlir::arith::ShRSIOp::create(b, exponentBits, i(52));
    exponent = arith::TruncIOp::create(b, shapedAs(floats, b.getI32Type()), exponent);
    return {fromBits(subBits(bits, exponentBits)), arith::SIToFPOp::create(b, floats, exponent)};
  }

  Value limit(Value x, double most) { return greater(f(-most), lesser(f(most), x)); }

  Pair log2Of(Value x);
  /// Returns x^y of positive finite x and finite y.
  Value power(Value x, Value y);
  /// Returns x^y of numbers that an f32 holds; the caller rounds it to f32.
  Value shortPower(Value x, Value y);
};

Pair PairLanes::log2Of(Value x) {
  Value subnormal = less(x, f(std::numeric_limits<double>::min()));
  auto [mantissa, exponent] = split(select(subnormal, mul(x, f(0x1p52)), x), 0x1.6a09e667f3bcdp-1);
  exponent = sub(exponent, select(subnormal, f(52), f(0)));
  Value a = sub(mantissa, f(1));
  Pair b = sumOf(f(1), mantissa);
  Value quotient = div(a, b.high), minus = neg(quotient);
  Value remainder = fma(minus, b.low, fma(minus, b.high, a));
  Pair s{quotient, div(remainder, b.high)};
  Pair z = product(s, s);
  Pair third = sumOf(f(0x1.5555555555555p-2), mul(z.high, hornerOf(f64::inverseTanh, z.high)));
  third.low = add(third.low, f(0x1.5555555555555p-56));
  Pair bend = product(s, product(z, third));
  Pair half = sumOf(s.high, bend.high);
  half.low = add(half.low, add(s.low, bend.low));
  Pair log = product(half, Pair{f(0x1.71547652b82fep+1), f(0x1.777d0ffda0d24p-55)});
  Pair sum = sumOf(exponent, log.high);
  return {sum.high, add(sum.low, log.low)};
}

Value PairLanes::power(Value x, Value y) {
  Pair log = log2Of(x), power = product(y, log.high);
  power.low = add(power.low, mul(y, log.low));
  Value whole = limit(power.high, 1100);
  Value within = compare(arith::CmpFPredicate::OEQ, whole, power.high);
  Value rest = select(within, power.low, f(0));
  Value shift = f(0x1.8p52 + 2 * 1023), shifted = add(whole, shift);
  Value r = sub(whole, sub(shifted, shift));
  Value ln2 = f(0x1.62e42fefa39efp-1), ln2Low = f(0x1.abc9e3b39803fp-56);
  Value h = mul(r, ln2);
  Value low = fma(rest, ln2, fma(r, ln2Low, fma(r, ln2, neg(h))));
  Value bend = mul(mul(hornerOf(f64::exponential, h), h), h);
  Pair sum = sumOf(f(1), h);
  Value tail = add(bend, fma(low, add(h, bend), low));
  Value result = add(sum.high, add(sum.low, tail));
  Value bits = toBits(shifted), half = shiftRight(bits, 1);
  Value first = fromBits(shiftLeft(half, 52)),
        second = fromBits(shiftLeft(subBits(bits, half), 52));
  return mul(mul(result, first), second);
}

Value PairLanes::shortPower(Value x, Value y) {
  auto [mantissa, exponent] = split(x, 2.0 / 3.0);
  Value fraction = sub(mantissa, f(1));
  Value p = hornerOf(f64::shortLogarithm, fraction);
  Value log = fma(p, mul(fraction, fraction), fraction);
  Value power = limit(mul(fma(log, f(1.4426950408889634074), exponent), y), 200);
  Value shift = f(0x1.8p52 + 1023), shifted = add(power, shift);
  Value r = sub(power, sub(shifted, shift));
  Value w = mul(hornerOf(f64::shortPowerOfTwo, r), r);
  Value scale = fromBits(shiftLeft(toBits(shifted), 52));
  return fma(w, scale, scale);
}

Value emitPowerOf(ImplicitLocOpBuilder &b, Value x, Value y, bool isDouble) {
  PairLanes l(b, x.getType());
  if (isDouble)
    return l.power(x, y);
  auto widen = [&](Value value) { return arith::ExtFOp::create(b, l.floats, value); };
  return arith::TruncFOp::create(b, x.getType(), l.shortPower(widen(x), widen(y)));
}

} // namespace

Value emitPow(ImplicitLocOpBuilder &b, Value x, Value y) {
  Lanes l(b, x);
  using Compare = arith::CmpFPredicate;
  auto both = [&](Value p, Value q) { return arith::AndIOp::create(b, p, q).getResult(); };
  auto either = [&](Value p, Value q) { return arith::OrIOp::create(b, p, q).getResult(); };
  auto equal = [&](Value p, Value q) { return l.compare(Compare::OEQ, p, q); };
  Value zero = l.f(0), one = l.f(1), infinity = l.f(std::numeric_limits<double>::infinity());
  Value base = emitAbsolute(l, x);
  Value magnitude = emitPowerOf(b, base, y, l.format.isDouble);
  Value extreme =
      either(either(equal(base, zero), equal(base, infinity)), equal(emitAbsolute(l, y), infinity));
  Value grows = l.compare(arith::CmpIPredicate::eq, l.less(one, base), l.less(zero, y));
  magnitude = l.select(extreme, l.select(grows, infinity, zero), magnitude);
  magnitude = l.select(equal(base, one), one, magnitude);
  // A negative base needs a whole exponent; an odd one keeps the sign.
  auto isWhole = [&](Value value) { return equal(math::FloorOp::create(b, value), value); };
  Value whole = isWhole(y), half = l.mul(y, l.f(0.5));
  Value even = isWhole(half);
  Value sign = l.select(even, l.i(0), l.andBits(l.toBits(x), l.i(l.format.signBit())));
  sign = l.select(whole, sign, l.i(0));
  Value result = l.fromBits(l.xorBits(l.toBits(magnitude), sign));
  Value nothing = both(l.less(x, zero), l.less(l.neg(infinity), x));
  nothing = l.select(whole, l.compare(Compare::UNO, x, y),
                     either(nothing, l.compare(Compare::UNO, x, y)));
  result = l.select(nothing, l.f(std::numeric_limits<double>::quiet_NaN()), result);
  return l.select(either(equal(y, zero), equal(x, one)), one, result);
}

} // namespace reprise
