// reprise: functions of one number that our dialect writes out
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
  // What is neither, a NaN or a zero, stays.
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

/// `exp(x) - 1 = tanh(x / 2) · (exp(x) + 1)`, which cancels nowhere.
Values importExpMinusOne(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], half = mul(b, x, constant(b, x, 0.5));
  return {mul(b, TanhOp::create(b, half), add(b, ExpOp::create(b, x), constant(b, x, 1)))};
}

/// Near 0 the series of the logarithm, elsewhere the logarithm.
Value logPlusOne(Builder &b, Value x) {
  SmallVector<double> series;
  for (int k = elementOf(x).isF64() ? 16 : 8; k > 0; --k)
    series.push_back((k % 2 ? 1.0 : -1.0) / k);
  Value isNear = compare(b, ComparePredicate::lt, AbsOp::create(b, x), constant(b, x, 0.1));
  // What is not chosen must have a finite derivative.
  Value near = select(b, isNear, x, constant(b, x, 0));
  Value far = select(b, isNear, constant(b, x, 0), x);
  return select(b, isNear, mul(b, near, polynomial(b, near, series)),
                LogOp::create(b, add(b, far, constant(b, x, 1))));
}

Values importLogPlusOne(Source &s) { return {logPlusOne(s.b(), s.operands[0])}; }

Values importTan(Source &s) {
  Value sine = SinOp::create(s.b(), s.operands[0]), cosine = CosOp::create(s.b(), s.operands[0]);
  return {DivOp::create(s.b(), s.type(), sine, cosine)};
}

Values importErfc(Source &s) {
  Value erf = ErfOp::create(s.b(), s.operands[0]);
  return {sub(s.b(), constant(s.b(), erf, 1), erf)};
}

/// By M. Giles, "Approximating the erfinv function" (2010): polynomials of w = -log(1 - x²).
Values importErfInv(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0];
  if (!elementOf(x).isF32())
    return s.refuse("of another type than f32");
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
  return {select(b, isEnd, end, inner)};
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
  handlers["chlo.erfc"] = {importErfc, 1};
  handlers["chlo.erf_inv"] = {importErfInv, 1};
}

} // namespace reprise::stablehlo
