// reprise: elementwise ops of StableHLO
#include "Importer.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace reprise::stablehlo {
namespace {

template <typename OpT> Values unary(Source &s) {
  return {OpT::create(s.b(), s.type(), s.operands[0])};
}

template <typename OpT> Values binary(Source &s) {
  return {OpT::create(s.b(), s.type(), s.operands[0], s.operands[1])};
}

bool isPositiveZero(Value x) {
  std::optional<APFloat> number = constantFloat(x);
  return number && number->isPosZero();
}

/// The mean of equal numbers, and elsewhere a function of both: each has half of the derivative.
Value shared(Builder &b, Value x, Value y, Value mean, Value elsewhere) {
  return select(b, compare(b, ComparePredicate::eq, x, y), mean, elsewhere);
}

Value meanOf(Builder &b, Value x, Value y) {
  Value half = splat(b, typeOf(x), 0.5);
  return AddOp::create(b, x.getType(), MulOp::create(b, x.getType(), x, half),
                       MulOp::create(b, x.getType(), y, half));
}

/// Returns `op` if it has that name and number of operands, otherwise null.
Operation *named(Operation *op, StringRef name, unsigned operands) {
  bool is = op && op->getName().stripDialect() == name && op->getNumOperands() == operands;
  return is ? op : nullptr;
}

/// Recognizes max(x, y) + log(1 + exp(-|x - y|)), JAX's form of logaddexp and softplus, which is
/// smooth although neither summand is. If it matches, `sum` gets the derivative at equal numbers.
Value importSum(Source &s, Value sum) {
  Operation *largest = named(s.op->getOperand(0).getDefiningOp(), "maximum", 2);
  Operation *inner = s.op->getOperand(1).getDefiningOp();
  for (StringRef name : {"log_plus_one", "exponential", "negate", "abs"})
    inner = (inner = named(inner, name, 1)) ? inner->getOperand(0).getDefiningOp() : nullptr;
  if (!largest || !(inner = named(inner, "subtract", 2)))
    return sum;
  auto find = [&](Operation *op, unsigned i) {
    return s.importer.values.lookupOrNull(op->getOperand(i));
  };
  Value x = find(largest, 0), y = find(largest, 1), other = find(inner, 1);
  if (!x || !y || !other || !isFloat(x))
    return sum;
  std::optional<APFloat> number = constantFloat(y), otherNumber = constantFloat(other);
  bool isSame = y == other || (number && otherNumber && number->bitwiseIsEqual(*otherNumber));
  if (!isSame || x != find(inner, 0))
    return sum;
  Value mean = meanOf(s.b(), x, y), two = splat(s.b(), typeOf(x), std::log(2.0));
  return shared(s.b(), x, y, AddOp::create(s.b(), x.getType(), mean, two), sum);
}

/// Imports a combining op. A maximum with 0 is a relu, whose derivative at 0 is 0, as in
/// jax.nn.relu. On i1 arithmetic is logic. The maximum of unsigned numbers is that of numbers
/// shifted by half of the range.
Values combined(Source &s) {
  Value x = s.operands[0], y = s.operands[1];
  bool isOrdered = s.name() == "maximum" || s.name() == "minimum";
  if (s.name() == "maximum" && isPositiveZero(y))
    return unary<ReluOp>(s);
  if (isOrdered && isFloat(x) && !constantFloat(y) && !constantFloat(x))
    return {shared(s.b(), x, y, meanOf(s.b(), x, y), combine(s.b(), s.name(), x, y))};
  if (s.name() == "add")
    return {importSum(s, combine(s.b(), s.name(), x, y))};
  if (!isOrdered || !s.isUnsigned(0))
    return {combine(s.b(), s.name(), x, y)};
  Value less = CompareOp::create(s.b(), s.type().clone(s.b().getI1Type()), ComparePredicate::lt,
                                 flipSign(s.b(), x), flipSign(s.b(), y));
  return {s.name() == "maximum" ? select(s.b(), less, y, x) : select(s.b(), less, x, y)};
}

Values importNot(Source &s) {
  Value x = s.operands[0];
  if (elementOf(x).isInteger(1))
    return unary<NotOp>(s);
  return {XorOp::create(s.b(), x.getType(), x, splatInteger(s.b(), typeOf(x), -1))};
}

Values importXor(Source &s) { return binary<XorOp>(s); }

bool isOne(Value x) {
  std::optional<APFloat> number = constantFloat(x);
  return number && number->isExactlyValue(1);
}

/// Returns the x of 1 + exp(-x), or null.
Value findSigmoid(Value divisor) {
  auto sum = divisor.getDefiningOp<AddOp>();
  if (!sum)
    return {};
  Value power = isOne(sum.getLhs()) ? sum.getRhs() : isOne(sum.getRhs()) ? sum.getLhs() : Value();
  auto exp = power ? power.getDefiningOp<ExpOp>() : nullptr;
  auto negated = exp ? exp.getOperand().getDefiningOp<NegOp>() : nullptr;
  return negated ? negated.getOperand() : Value();
}

/// Imports a division; JAX writes a sigmoid as one, whose derivative in this form is 0 · ∞ if
/// exp(-x) is infinite.
Values importDivide(Source &s) {
  if (Value x = isOne(s.operands[0]) ? findSigmoid(s.operands[1]) : Value())
    return {SigmoidOp::create(s.b(), s.type(), x)};
  if (!s.isUnsigned(0))
    return binary<DivOp>(s);
  return {unsignedArithmetic(s, /*isRemainder=*/false)};
}

Value sub(Builder &b, Value x, Value y) { return SubOp::create(b, x.getType(), x, y); }

/// Computes the remainder of a division that rounds towards zero. The quotient is rounded, so that
/// the first remainder may exceed the divisor by one step.
Value floatRemainder(Builder &b, Value x, Value y) {
  Value left = AbsOp::create(b, stopGradient(b, x)), by = AbsOp::create(b, stopGradient(b, y));
  Value steps = FloorOp::create(b, DivOp::create(b, left.getType(), left, by));
  Value rest = sub(b, left, MulOp::create(b, left.getType(), steps, by));
  Value one = splat(b, typeOf(x), 1), zero = splat(b, typeOf(x), 0);
  Value isOver = compare(b, ComparePredicate::ge, rest, by),
        isUnder = compare(b, ComparePredicate::lt, rest, zero);
  Value offset = select(b, isOver, one, select(b, isUnder, NegOp::create(b, one), zero));
  steps = AddOp::create(b, steps.getType(), steps, offset);
  Value isNegative = compare(b, ComparePredicate::ne, compare(b, ComparePredicate::lt, x, zero),
                             compare(b, ComparePredicate::lt, y, zero));
  steps = select(b, isNegative, NegOp::create(b, steps), steps);
  // An infinite divisor has no quotient, and 0 · ∞ is no number.
  Value infinity = splat(b, typeOf(x), std::numeric_limits<double>::infinity());
  Value isWhole = AndOp::create(b, compare(b, ComparePredicate::lt, left, infinity),
                                compare(b, ComparePredicate::eq, by, infinity));
  return sub(b, x, MulOp::create(b, x.getType(), steps, select(b, isWhole, zero, y)));
}

Values importRemainder(Source &s) {
  if (isFloat(s.operands[0]))
    return {floatRemainder(s.b(), s.operands[0], s.operands[1])};
  if (!s.isUnsigned(0))
    return binary<RemOp>(s);
  return {unsignedArithmetic(s, /*isRemainder=*/true)};
}

Values importCompare(Source &s) {
  Value x = s.operands[0], y = s.operands[1];
  auto predicate =
      llvm::StringSwitch<std::optional<ComparePredicate>>(s.word("comparison_direction"))
          .Case("EQ", ComparePredicate::eq)
          .Case("NE", ComparePredicate::ne)
          .Case("LT", ComparePredicate::lt)
          .Case("LE", ComparePredicate::le)
          .Case("GT", ComparePredicate::gt)
          .Case("GE", ComparePredicate::ge)
          .Default(std::nullopt);
  if (!predicate)
    return s.refuse("in an unknown direction");
  if (s.word("compare_type") == "TOTALORDER" && isFloat(x)) {
    x = totalOrder(s.b(), x);
    y = totalOrder(s.b(), y);
  }
  if (s.isUnsigned(0)) {
    x = flipSign(s.b(), x);
    y = flipSign(s.b(), y);
  }
  return {compare(s.b(), *predicate, x, y)};
}

/// Imports a logical right shift: zeros come from above. The complement of a negative number
/// therefore shifts in ones.
Values importShiftRight(Source &s) {
  Builder &b = s.b();
  Value x = s.operands[0], ones = splatInteger(b, typeOf(x), -1);
  int64_t bits = elementOf(x).getIntOrFloatBitWidth();
  Value by = s.operands[1], last = splatInteger(b, typeOf(x), bits - 1);
  Value isBeyond = compare(b, ComparePredicate::gt, flipSign(b, by), flipSign(b, last));
  by = select(b, isBeyond, last, by);
  Value flipped = XorOp::create(b, x.getType(), x, ones);
  Value negative =
      XorOp::create(b, x.getType(), ShiftRightOp::create(b, x.getType(), flipped, by), ones);
  Value isNegative = compare(b, ComparePredicate::lt, x, splatInteger(b, typeOf(x), 0));
  return {select(b, isNegative, negative, ShiftRightOp::create(b, x.getType(), x, by))};
}

/// Imports a logical shift; for 8 and 16 bits the upper bits are zeros as well.
Values importLogicalShift(Source &s) {
  Type narrow = s.op->getOperand(0).getType();
  if (isNarrow(narrow))
    s.operands[0] = bitsOfNarrow(s.b(), s.operands[0], narrow);
  return binary<ShiftRightOp>(s);
}

/// Ones in each pair of bits, then in each four, and so on.
Value countOnes(Builder &b, Value x) {
  unsigned width = elementOf(x).getIntOrFloatBitWidth();
  Value sum = x;
  for (unsigned part = 1; part < width; part *= 2) {
    APInt ones = APInt::getSplat(width, APInt::getLowBitsSet(2 * part, part));
    Value mask = splatInteger(b, typeOf(x), ones.getSExtValue());
    Value by = splatInteger(b, typeOf(x), part);
    Value high = AndOp::create(b, x.getType(), ShiftRightOp::create(b, x.getType(), sum, by), mask);
    sum = AddOp::create(b, x.getType(), AndOp::create(b, x.getType(), sum, mask), high);
  }
  return sum;
}

Values importCountOnes(Source &s) {
  Type narrow = s.op->getOperand(0).getType();
  Value x = s.operands[0];
  return {countOnes(s.b(), isNarrow(narrow) ? bitsOfNarrow(s.b(), x, narrow) : x)};
}

/// Imports a count of leading zeros: sets every bit behind the first set bit, and counts the
/// others.
Values importLeadingZeros(Source &s) {
  Builder &b = s.b();
  Type source = s.op->getOperand(0).getType();
  Value x = isNarrow(source) ? bitsOfNarrow(b, s.operands[0], source) : s.operands[0];
  for (unsigned by = 1; by < elementOf(x).getIntOrFloatBitWidth(); by *= 2)
    x = OrOp::create(b, x.getType(), x,
                     ShiftRightOp::create(b, x.getType(), x, splatInteger(b, typeOf(x), by)));
  int64_t width = getElementTypeOrSelf(source).getIntOrFloatBitWidth();
  return {sub(b, splatInteger(b, typeOf(x), width), countOnes(b, x))};
}

Values importSelect(Source &s) {
  Value condition = s.operands[0];
  if (typeOf(condition).getRank() == 0)
    condition = broadcast(s.b(), condition, s.type().getShape(), {});
  return {select(s.b(), condition, s.operands[1], s.operands[2])};
}

/// Bounds that are constants stay numbers of one op.
Values importClamp(Source &s) {
  Values x;
  for (Value operand : s.operands)
    x.push_back(typeOf(operand).getRank() == 0 ? broadcast(s.b(), operand, s.type().getShape(), {})
                                               : operand);
  if (s.isUnsigned(0)) {
    for (Value &each : x)
      each = flipSign(s.b(), each);
    return {flipSign(s.b(), minimum(s.b(), maximum(s.b(), x[1], x[0]), x[2]))};
  }
  std::optional<APFloat> low = constantFloat(x[0]), high = constantFloat(x[2]);
  if (!low || !high || *low > *high)
    return {minimum(s.b(), maximum(s.b(), x[1], x[0]), x[2])};
  auto f64 = [&](APFloat number) {
    bool loses;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return s.b().getF64FloatAttr(number.convertToDouble());
  };
  return {ClampOp::create(s.b(), x[1], f64(*low), f64(*high))};
}

} // namespace

void addElementwise(Handlers &handlers) {
  auto add = [&](StringRef name, int operands, Values (*import)(Source &)) {
    handlers["stablehlo." + name.str()] = {import, operands};
  };
  add("negate", 1, unary<NegOp>);
  add("abs", 1, unary<AbsOp>);
  add("exponential", 1, unary<ExpOp>);
  add("log", 1, unary<LogOp>);
  add("sqrt", 1, unary<SqrtOp>);
  add("rsqrt", 1, unary<RsqrtOp>);
  add("tanh", 1, unary<TanhOp>);
  add("logistic", 1, unary<SigmoidOp>);
  add("sine", 1, unary<SinOp>);
  add("cosine", 1, unary<CosOp>);
  add("not", 1, importNot);
  for (StringRef name : {"add", "multiply", "maximum", "minimum", "and", "or"})
    add(name, 2, combined);
  add("xor", 2, importXor);
  add("subtract", 2, binary<SubOp>);
  add("divide", 2, importDivide);
  add("remainder", 2, importRemainder);
  add("power", 2, binary<PowOp>);
  add("shift_left", 2, binary<ShiftLeftOp>);
  add("shift_right_logical", 2, importLogicalShift);
  add("popcnt", 1, importCountOnes);
  add("count_leading_zeros", 1, importLeadingZeros);
  add("shift_right_arithmetic", 2, importShiftRight);
  add("compare", 2, importCompare);
  add("select", 3, importSelect);
  add("clamp", 3, importClamp);
  handlers["chlo.erf"] = {unary<ErfOp>, 1};
}

} // namespace reprise::stablehlo
