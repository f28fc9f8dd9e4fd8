// reprise: inverse trigonometric and gamma functions of StableHLO, from our ops
#include "Importer.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Arithmetic on values, with numbers for constants.
struct Math {
  Builder &b;

  Value number(Value like, double x) { return splat(b, typeOf(like), x); }
  Value add(Value x, Value y) { return AddOp::create(b, x.getType(), x, y); }
  Value add(Value x, double y) { return add(x, number(x, y)); }
  Value sub(Value x, Value y) { return SubOp::create(b, x.getType(), x, y); }
  Value sub(double x, Value y) { return sub(number(y, x), y); }
  Value mul(Value x, Value y) { return MulOp::create(b, x.getType(), x, y); }
  Value mul(Value x, double y) { return mul(x, number(x, y)); }
  Value div(Value x, Value y) { return DivOp::create(b, x.getType(), x, y); }
  Value div(double x, Value y) { return div(number(y, x), y); }
  Value log(Value x) { return LogOp::create(b, x); }
  Value sqrt(Value x) { return SqrtOp::create(b, x); }
  Value less(Value x, double y) { return compare(b, ComparePredicate::lt, x, number(x, y)); }
  Value more(Value x, double y) { return compare(b, ComparePredicate::gt, x, number(x, y)); }
  Value is(Value x, double y) { return compare(b, ComparePredicate::eq, x, number(x, y)); }
  Value either(Value x, Value y) { return OrOp::create(b, x.getType(), x, y); }
  Value both(Value x, Value y) { return AndOp::create(b, x.getType(), x, y); }
  Value choose(Value condition, Value yes, Value no) { return select(b, condition, yes, no); }
  Value choose(Value condition, double yes, Value no) {
    return choose(condition, number(no, yes), no);
  }

  /// Σ coefficients[i] · x^(n - 1 - i), by Horner's rule.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(x, coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = add(mul(sum, x), coefficient);
    return sum;
  }
  /// -1 or 1, by the sign bit, with no derivative.
  Value signOf(Value x) {
    bool isWide = elementOf(x).isF64();
    Value bits = BitcastOp::create(b, typeOf(x).clone(isWide ? b.getI64Type() : b.getI32Type()), x);
    Value isNegative = compare(b, ComparePredicate::lt, bits, splatInteger(b, typeOf(bits), 0));
    return choose(isNegative, -1, number(x, 1));
  }
};

constexpr double kPi = 3.14159265358979323846, kInfinity = std::numeric_limits<double>::infinity();

/// Returns atan of a number up to tan(π/8) in f32, up to 0.66 in f64: S. Moshier, Cephes (1989),
/// atanf and atan.
Value atanNear(Math &m, Value x) {
  Value z = m.mul(x, x);
  if (!elementOf(x).isF64()) {
    Value series =
        m.polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
    return m.add(m.mul(m.mul(series, z), x), x);
  }
  Value above = m.polynomial(z, {-8.750608600031904122785e-1, -1.615753718733365076637e1,
                                 -7.500855792314704667340e1, -1.228866684490136173410e2,
                                 -6.485021904942025371773e1});
  Value below = m.polynomial(z, {1, 2.485846490142306297962e1, 1.650270098316988542046e2,
                                 4.328810604912902668951e2, 4.853903996359136964868e2,
                                 1.945506571482613964425e2});
  return m.add(m.mul(x, m.mul(z, m.div(above, below))), x);
}

/// Returns atan of y / x, where both are at least 0 and y is no larger: π/4 + atan((y - x) / (y +
/// x)), or atan(y / x). Both share one quotient, so that the branch not chosen has no derivative.
Value atanOfQuotient(Math &m, Value y, Value x) {
  double bound = elementOf(x).isF64() ? 0.66 : std::sqrt(2.0) - 1;
  Value isFar = compare(m.b, ComparePredicate::gt, y, m.mul(x, bound));
  Value above = m.choose(isFar, m.sub(y, x), y), below = m.choose(isFar, m.add(y, x), x);
  Value offset = m.choose(isFar, kPi / 4, m.number(x, 0));
  return m.add(atanNear(m, m.div(above, below)), offset);
}

Value atan2(Math &m, Value y, Value x) {
  Value signY = m.signOf(y), signX = m.signOf(x);
  Value tall = m.mul(y, signY), wide = m.mul(x, signX);
  // We replace two infinities, and two zeros, by numbers with the right quotient.
  Value areInfinite = m.both(m.is(tall, kInfinity), m.is(wide, kInfinity));
  tall = m.choose(areInfinite, 1, tall);
  wide = m.choose(areInfinite, 1, wide);
  Value isSteep = compare(m.b, ComparePredicate::gt, tall, wide);
  Value low = m.choose(isSteep, wide, tall), high = m.choose(isSteep, tall, wide);
  Value angle = atanOfQuotient(m, low, high);
  angle = m.choose(m.both(m.is(low, 0), m.is(high, 0)), 0, angle);
  angle = m.choose(isSteep, m.sub(kPi / 2, angle), angle);
  angle = m.choose(m.less(signX, 0), m.sub(kPi, angle), angle);
  return m.mul(angle, signY);
}

Value atan(Math &m, Value x) { return atan2(m, x, m.number(x, 1)); }

/// Returns x² - 1 without cancellation. The derivative of a product would be infinity times 0 at 1.
Value squareBelow(Math &m, Value x) {
  Value own = stopGradient(m.b, x), plain = m.mul(x, x);
  return m.add(m.mul(m.add(own, -1), m.add(own, 1)), m.sub(plain, stopGradient(m.b, plain)));
}

/// Returns √(1 - x²). Its zeros have no sign, since angles and derivatives would inherit it.
Value chord(Math &m, Value x) { return m.sqrt(m.sub(0, squareBelow(m, x))); }
Value asin(Math &m, Value x) { return atan2(m, x, chord(m, x)); }
Value acos(Math &m, Value x) { return atan2(m, chord(m, x), x); }

/// Bound above which log(2x) equals both the inverse hyperbolic sine and cosine.
constexpr double kFar = 0x1p28;

Value asinh(Math &m, Value x) {
  Value sign = m.signOf(x), size = m.mul(x, sign), isFar = m.more(size, kFar);
  Value near = m.choose(isFar, 1, size), square = m.mul(near, near);
  Value rest = m.div(square, m.add(m.sqrt(m.add(square, 1)), 1));
  Value far = m.add(m.log(m.choose(isFar, size, m.number(x, 1))), std::log(2.0));
  return m.mul(sign, m.choose(isFar, far, logPlusOne(m.b, m.add(near, rest))));
}

Value acosh(Math &m, Value x) {
  Value isFar = m.more(x, kFar), near = m.choose(isFar, 1, x), above = m.add(near, -1);
  Value far = m.add(m.log(m.choose(isFar, x, m.number(x, 1))), std::log(2.0));
  Value result = m.choose(isFar, far, logPlusOne(m.b, m.add(above, m.sqrt(squareBelow(m, near)))));
  return m.choose(m.less(x, 1), std::numeric_limits<double>::quiet_NaN(), result);
}

//===-- The gamma function --------------------------------------------------------------------===//

/// C. Lanczos (1964), with g = 7 and nine terms.
constexpr double kBase = 0.99999999999980993227684700473478;
constexpr double kTerms[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// Common parts of both functions: z = x - 1 for x ≥ 1/2, otherwise -x, by reflection.
struct Lanczos {
  Lanczos(Math &m, Value x) : isReflected(m.less(x, 0.5)) {
    z = m.choose(isReflected, NegOp::create(m.b, x), m.add(x, -1));
    sum = m.number(x, kBase);
    slope = m.number(x, 0);
    for (auto [i, term] : llvm::enumerate(kTerms)) {
      Value below = m.add(z, i + 1.0), quotient = m.div(term, below);
      sum = m.add(sum, quotient);
      slope = m.sub(slope, m.div(quotient, below));
    }
    t = m.add(z, 7.5);
    logT = m.add(logPlusOne(m.b, m.mul(z, 1 / 7.5)), std::log(7.5));
  }
  Value isReflected, z, sum, slope, t, logT;
};

/// Returns x - ⌊x⌋, with the derivative 1.
Value fraction(Math &m, Value x) { return m.sub(x, FloorOp::create(m.b, stopGradient(m.b, x))); }

Value lgamma(Math &m, Value x) {
  Value isInfinite = m.is(AbsOp::create(m.b, x), kInfinity), whole = m.choose(isInfinite, 1, x);
  Lanczos l(m, whole);
  Value power = m.sub(m.add(l.z, 0.5), m.div(l.t, l.logT));
  Value own = m.add(m.add(m.mul(power, l.logT), 0.5 * std::log(2 * kPi)), m.log(l.sum));
  // log(π / |sin πx|): the value that is not reflected has a finite logarithm.
  Value reflected = m.choose(l.isReflected, whole, m.number(x, 0.25));
  Value size = m.mul(reflected, m.signOf(reflected)), part = fraction(m, size);
  part = m.choose(m.more(part, 0.5), m.sub(1, part), part);
  Value sine = m.log(SinOp::create(m.b, m.mul(part, kPi)));
  Value other = m.sub(m.sub(std::log(kPi), sine), own);
  // At a pole the result is infinite, even if `own` is too.
  other = m.choose(m.is(part, 0), kInfinity, other);
  // There its derivative is infinite as well, as that of a square.
  Value far = m.choose(isInfinite, x, m.number(x, 0));
  return m.choose(isInfinite, m.mul(far, far), m.choose(l.isReflected, other, own));
}

Value digamma(Math &m, Value x) {
  Lanczos l(m, x);
  Value own = m.add(m.sub(l.logT, m.div(7, l.t)), m.div(l.slope, l.sum));
  Value reflected = m.choose(l.isReflected, x, m.number(x, 0.25));
  Value nearest = FloorOp::create(m.b, stopGradient(m.b, m.add(reflected, 0.5)));
  Value angle = m.mul(m.sub(reflected, nearest), kPi);
  Value cotangent = m.div(CosOp::create(m.b, angle), SinOp::create(m.b, angle));
  Value other = m.sub(own, m.mul(cotangent, kPi));
  Value isPole = m.both(m.less(x, 0.5), compare(m.b, ComparePredicate::eq, reflected, nearest));
  other = m.choose(isPole, std::numeric_limits<double>::quiet_NaN(), other);
  return m.choose(l.isReflected, other, own);
}

//===-- Handlers ------------------------------------------------------------------------------===//

/// Computes 16-bit floats in f32.
template <auto function> Values inFullPrecision(Source &s) {
  Math m{s.b()};
  Type element = s.type().getElementType();
  bool isShort = element.isF16() || element.isBF16();
  auto whole = [&](unsigned i) {
    return isShort ? convertTo(s.b(), s.operands[i], s.b().getF32Type()) : s.operands[i];
  };
  if constexpr (std::is_invocable_v<decltype(function), Math &, Value, Value>)
    return {convertTo(s.b(), function(m, whole(0), whole(1)), element)};
  else
    return {convertTo(s.b(), function(m, whole(0)), element)};
}

/// Imports next_after: the float whose bits are one more or one less, towards y.
Values importNextAfter(Source &s) {
  Builder &b = s.b();
  Math m{b};
  Value x = s.operands[0], y = s.operands[1];
  if (elementOf(x).getIntOrFloatBitWidth() < 32)
    return s.refuse("of floats of 16 bits");
  auto type = typeOf(x).clone(elementOf(x).isF64() ? b.getI64Type() : b.getI32Type());
  Value bits = BitcastOp::create(b, type, x), one = splatInteger(b, type, 1);
  Value isPositive = m.more(x, 0), isUp = compare(b, ComparePredicate::lt, x, y);
  Value grows = compare(b, ComparePredicate::eq, isPositive, isUp);
  Value moved =
      select(b, grows, AddOp::create(b, type, bits, one), SubOp::create(b, type, bits, one));
  APInt low = APInt::getSignedMinValue(type.getElementTypeBitWidth());
  Value least = select(b, isUp, one, splatInteger(b, type, low.getSExtValue() + 1));
  Value next = BitcastOp::create(b, x.getType(), select(b, m.is(x, 0), least, moved));
  Value isNan =
      m.either(compare(b, ComparePredicate::ne, x, x), compare(b, ComparePredicate::ne, y, y));
  next = m.choose(compare(b, ComparePredicate::eq, x, y), stopGradient(b, y), next);
  return {m.choose(isNan, std::numeric_limits<double>::quiet_NaN(), next)};
}

} // namespace

void addSpecial(Handlers &handlers) {
  for (StringRef dialect : {"chlo.", "stablehlo."}) {
    handlers[(dialect + "atan2").str()] = {inFullPrecision<atan2>, 2};
    handlers[(dialect + "atan").str()] = {inFullPrecision<atan>, 1};
  }
  handlers["chlo.asin"] = {inFullPrecision<asin>, 1};
  handlers["chlo.acos"] = {inFullPrecision<acos>, 1};
  handlers["chlo.asinh"] = {inFullPrecision<asinh>, 1};
  handlers["chlo.acosh"] = {inFullPrecision<acosh>, 1};
  handlers["chlo.lgamma"] = {inFullPrecision<lgamma>, 1};
  handlers["chlo.digamma"] = {inFullPrecision<digamma>, 1};
  handlers["chlo.next_after"] = {importNextAfter, 2};
}

} // namespace reprise::stablehlo
