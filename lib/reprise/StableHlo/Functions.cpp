// reprise: functions of one number that are expanded into our ops
#include "Importer.h"

#include <cmath>

using namespace mlir;

namespace reprise::stablehlo {
namespace {

Value add(Builder &b, Value x, Value y) { return AddOp::create(b, x.getType(), x, y); }
Value sub(Builder &b, Value x, Value y) { return SubOp::create(b, x.getType(), x, y); }
Value mul(Builder &b, Value x, Value y) { return MulOp::create(b, x.getType(), x, y); }
Value constant(Builder &b, Value like, double number) { return splat(b, typeOf(like), number); }

/// Σ coefficients[i] · x^(n - 1 - i), by Horner's rule.
Value polynomial(Builder &b, Value x, ArrayRef<double> coefficients) {
  Value sum = constant(b, x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = add(b, mul(b, sum, x), constant(b, x, coefficient));
  return sum;
}

Values importSquare(Source &s) { return {mul(s.b(), s.operands[0], s.operands[0])}; }

Values importSign(Source &s) {
  Builder &b = s.b();
  Value x = stopGradient(b, s.operands[0]), zero = constant(b, x, 0);
  // A NaN or a zero stays unchanged.
  Value low = select(b, compare(b, ComparePredicate::lt, x, zero), constant(b, x, -1), x);
  return {select(b, compare(b, ComparePredicate::gt, x, zero), constant(b, x, 1), low)};
}

Values importFloor(Source &s) {
  return {FloorOp::create(s.b(), stopGradient(s.b(), s.operands[0]))};
}

Values importCeil(Source &s) {
  Value negated = NegOp::create(s.b(), stopGradient(s.b(), s.operands[0]));
  return {NegOp::create(s.b(), FloorOp::create(s.b(), negated))};
}

/// `x - floor(x)` is exact. A tie goes to the even neighbour, or away from zero.
Values importRound(Source &s) {
  Builder &b = s.b();
  Value x = stopGradient(b, s.operands[0]), low = FloorOp::create(b, x),
        high = add(b, low, constant(b, x, 1));
  Value rest = sub(b, x, low), half = constant(b, x, 0.5), tie;
  if (s.name() == "round_nearest_even") {
    Value pairs = FloorOp::create(b, mul(b, low, half));
    tie = compare(b, ComparePredicate::ne, add(b, pairs, pairs), low);
  } else {
    tie = compare(b, ComparePredicate::ge, x, constant(b, x, 0));
  }
  Value above = select(b, compare(b, ComparePredicate::gt, rest, half), high, low);
  Value isTie = compare(b, ComparePredicate::eq, rest, half);
  return {select(b, isTie, select(b, tie, high, low), above)};
}

Values importIsFinite(Source &s) {
  Value magnitude = AbsOp::create(s.b(), s.operands[0]);
  return {compare(s.b(), ComparePredicate::lt, magnitude,
                  constant(s.b(), magnitude, std::numeric_limits<double>::infinity()))};
}

/// Returns `exp(x) - 1 = tanh(x / 2) · (exp(x) + 1)`, which has no cancellation. Beyond 1 it is the
/// difference, as the product's derivative is 0 · ∞ if exp(x) is infinite.
Value expMinusOne(Builder &b, Value x) {
  Value power = ExpOp::create(b, x), one = constant(b, x, 1), zero = constant(b, x, 0);
  Value isFar = compare(b, ComparePredicate::gt, x, one);
  Value half = mul(b, select(b, isFar, zero, x), constant(b, x, 0.5));
  Value near = mul(b, TanhOp::create(b, half), add(b, select(b, isFar, zero, power), one));
  return select(b, isFar, sub(b, power, one), near);
}

Values importExpMinusOne(Source &s) { return {expMinusOne(s.b(), s.operands[0])}; }

} // namespace

/// Near 0 the series of the logarithm, elsewhere the logarithm.
Value logPlusOne(Builder &b, Value x) {
  SmallVector<double> series;
  for (int k = elementOf(x).isF64() ? 16 : 8; k > 0; --k)
    series.push_back((k % 2 ? 1.0 : -1.0) / k);
  Value isNear = compare(b, ComparePredicate::lt, AbsOp::create(b, x), constant(b, x, 0.1));
  // The operand that is not chosen must have a finite derivative.
  Value near = select(b, isNear, x, constant(b, x, 0));
  Value far = select(b, isNear, constant(b, x, 0), x);
  return select(b, isNear, mul(b, near, polynomial(b, near, series)),
                LogOp::create(b, add(b, far, constant(b, x, 1))));
}

namespace {

Values importLogPlusOne(Source &s) { return {logPlusOne(s.b(), s.operands[0])}; }

Values importTan(Source &s) {
  Value sine = SinOp::create(s.b(), s.operands[0]), cosine = CosOp::create(s.b(), s.operands[0]);
  return {DivOp::create(s.b(), s.type(), sine, cosine)};
}

Value div(Builder &b, Value x, Value y) { return DivOp::create(b, x.getType(), x, y); }

/// Returns exp(-x²) · t · exp(P(t)), t = 1 / (1 + x / 2), with relative error 1.2e-7 for x ≥ 0: W.
/// H. Press et al., "Numerical Recipes" (1992), chapter 6.2.
Value erfcTail(Builder &b, Value x) {
  Value t = div(b, constant(b, x, 1), add(b, constant(b, x, 1), mul(b, x, constant(b, x, 0.5))));
  Value fit = polynomial(b, t,
                         {0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806,
                          0.09678418, 0.37409196, 1.00002368, -1.26551223});
  return mul(b, t, ExpOp::create(b, sub(b, fit, mul(b, x, x))));
}

/// Returns exp(-x²) / √π as a continued fraction, for x ≥ 2 in f64.
Value erfcFraction(Builder &b, Value x) {
  Value fraction = x;
  for (int k = 50; k > 0; --k)
    fraction = add(b, x, div(b, constant(b, x, k / 2.0), fraction));
  Value bell = ExpOp::create(b, NegOp::create(b, mul(b, x, x)));
  return div(b, mul(b, bell, constant(b, x, 0.56418958354775628695)), fraction);
}

/// Returns erfc(x). The form 1 - erf(x) cancels for large x, but its derivative does not, so the
/// derivative comes from this form.
Value erfc(Builder &b, Value x) {
  bool isWide = elementOf(x).isF64();
  Value erf = ErfOp::create(b, x), plain = sub(b, constant(b, erf, 1), erf);
  double from = isWide ? 2 : 0.5;
  Value own = stopGradient(b, x), least = maximum(b, own, constant(b, own, from));
  Value tail = isWide ? erfcFraction(b, least) : erfcTail(b, least), near = stopGradient(b, plain);
  Value isFar = compare(b, ComparePredicate::gt, own, constant(b, own, from));
  return add(b, select(b, isFar, tail, near), sub(b, plain, near));
}

/// Computes 16-bit floats in f32.
template <typename Function> Values inFullPrecision(Source &s, Function function) {
  Value x = s.operands[0];
  Type element = elementOf(x);
  bool isShort = element.isF16() || element.isBF16();
  Value result = function(isShort ? convertTo(s.b(), x, s.b().getF32Type()) : x);
  return {convertTo(s.b(), result, element)};
}

Values importErfc(Source &s) {
  return inFullPrecision(s, [&](Value x) { return erfc(s.b(), x); });
}

/// Returns erf_inv by M. Giles, "Approximating the erfinv function" (2010): polynomials of w =
/// -log(1 - x²).
Value erfInvOfFloat(Builder &b, Value x) {
  Value w = NegOp::create(b, logPlusOne(b, NegOp::create(b, mul(b, x, x))));
  Value isCentral = compare(b, ComparePredicate::lt, w, constant(b, w, 5));
  Value root = SqrtOp::create(b, maximum(b, w, constant(b, w, 5)));
  Value central =
      polynomial(b, sub(b, w, constant(b, w, 2.5)),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = polynomial(b, sub(b, root, constant(b, w, 3)),
                          {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                           0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value inner = mul(b, select(b, isCentral, central, tail), x);
  Value isEnd = compare(b, ComparePredicate::eq, AbsOp::create(b, x), constant(b, x, 1));
  double infinity = std::numeric_limits<double>::infinity();
  Value end = select(b, compare(b, ComparePredicate::gt, x, constant(b, x, 0)),
                     constant(b, x, infinity), constant(b, x, -infinity));
  return select(b, isEnd, end, inner);
}

/// Returns erf_inv in f64 by Halley's method from the value in f32; the last step, Newton's, has
/// the derivative.
Value erfInvOfDouble(Builder &b, Value x) {
  Value isEnd = compare(b, ComparePredicate::ge, AbsOp::create(b, x), constant(b, x, 1));
  Value inside = select(b, isEnd, constant(b, x, 0), x), own = stopGradient(b, inside);
  Value bound = constant(b, x, 0.9999999);
  Value start = maximum(b, minimum(b, own, bound), NegOp::create(b, bound));
  Value y = convertTo(b, erfInvOfFloat(b, convertTo(b, start, b.getF32Type())), b.getF64Type());
  auto step = [&](Value target) {
    Value slope = mul(b, ExpOp::create(b, mul(b, y, y)), constant(b, x, 0.88622692545275801365));
    return mul(b, sub(b, ErfOp::create(b, y), target), slope);
  };
  for (int i = 0; i < 4; ++i) {
    Value u = step(own);
    y = sub(b, y, div(b, u, add(b, constant(b, y, 1), mul(b, y, u))));
  }
  y = stopGradient(b, y);
  // The result is infinite at ±1, and NaN beyond; neither has a derivative.
  Value end = mul(b, stopGradient(b, x), constant(b, x, std::numeric_limits<double>::infinity()));
  Value isBeyond = compare(b, ComparePredicate::gt, AbsOp::create(b, x), constant(b, x, 1));
  end = select(b, isBeyond, constant(b, x, std::numeric_limits<double>::quiet_NaN()), end);
  return select(b, isEnd, end, sub(b, y, step(inside)));
}

Values importErfInv(Source &s) {
  return inFullPrecision(s, [&](Value x) {
    return elementOf(x).isF64() ? erfInvOfDouble(s.b(), x) : erfInvOfFloat(s.b(), x);
  });
}

/// Imports sinh as half of the difference of two powers, each minus 1, so that there is no
/// cancellation near 0.
Values importSinh(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], up = expMinusOne(b, x), down = expMinusOne(b, NegOp::create(b, x));
  return {mul(b, constant(b, x, 0.5), sub(b, up, down))};
}

Values importCosh(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], up = ExpOp::create(b, x), down = ExpOp::create(b, NegOp::create(b, x));
  return {mul(b, constant(b, x, 0.5), add(b, up, down))};
}

/// Half of the logarithm of (1 + x) / (1 - x).
Values importAtanh(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], up = logPlusOne(b, x), down = logPlusOne(b, NegOp::create(b, x));
  return {mul(b, constant(b, x, 0.5), sub(b, up, down))};
}

/// The sign of x, and the power of its size; the derivative at 0 is infinite.
Values importCbrt(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], zero = constant(b, x, 0), one = constant(b, x, 1);
  Value sign = select(b, compare(b, ComparePredicate::lt, x, zero), constant(b, x, -1), one);
  Value root = PowOp::create(b, x.getType(), mul(b, x, sign), constant(b, x, 1.0 / 3));
  return {mul(b, root, sign)};
}

} // namespace

void addFunctions(Handlers &handlers) {
  handlers["chlo.square"] = {importSquare, 1};
  handlers["stablehlo.sign"] = {importSign, 1};
  handlers["stablehlo.floor"] = {importFloor, 1};
  handlers["stablehlo.ceil"] = {importCeil, 1};
  handlers["stablehlo.round_nearest_even"] = {importRound, 1};
  handlers["stablehlo.round_nearest_afz"] = {importRound, 1};
  handlers["stablehlo.is_finite"] = {importIsFinite, 1};
  handlers["stablehlo.exponential_minus_one"] = {importExpMinusOne, 1};
  handlers["stablehlo.log_plus_one"] = {importLogPlusOne, 1};
  handlers["stablehlo.tan"] = {importTan, 1};
  handlers["chlo.tan"] = {importTan, 1};
  handlers["chlo.sinh"] = {importSinh, 1};
  handlers["chlo.cosh"] = {importCosh, 1};
  handlers["chlo.atanh"] = {importAtanh, 1};
  handlers["stablehlo.cbrt"] = {importCbrt, 1};
  handlers["chlo.erfc"] = {importErfc, 1};
  handlers["chlo.erf_inv"] = {importErfInv, 1};
}

} // namespace reprise::stablehlo
