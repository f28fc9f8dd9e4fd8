// reprise: constants, conversions and unsigned integers of StableHLO
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {

Value flipSign(Builder &b, Value x) {
  unsigned width = elementOf(x).getIntOrFloatBitWidth();
  int64_t sign = APInt::getSignedMinValue(width).getSExtValue();
  return XorOp::create(b, x.getType(), x, splatInteger(b, typeOf(x), sign));
}

/// The number that the bits of an unsigned i32 are.
static Value widen(Builder &b, Value x) {
  Value wide = convertTo(b, x, b.getI64Type());
  return AndOp::create(b, wide.getType(), wide, splatInteger(b, typeOf(wide), 0xffffffffll));
}

Value unsignedArithmetic(Source &s, bool isRemainder) {
  if (!elementOf(s.operands[0]).isInteger(32)) {
    s.refuse("of 64-bit unsigned integers");
    return {};
  }
  Builder &b = s.b();
  Value x = widen(b, s.operands[0]), y = widen(b, s.operands[1]);
  Value result = isRemainder ? RemOp::create(b, x.getType(), x, y).getResult()
                             : DivOp::create(b, x.getType(), x, y).getResult();
  return convertTo(b, result, b.getI32Type());
}

Value totalOrder(Builder &b, Value x) {
  bool isWide = elementOf(x).isF64();
  Value whole = isWide ? x : convertTo(b, x, b.getF32Type());
  auto type = typeOf(whole).clone(isWide ? b.getI64Type() : b.getI32Type());
  Value bits = BitcastOp::create(b, type, whole);
  Value others = splatInteger(b, type, isWide ? INT64_MAX : INT32_MAX);
  Value isNegative = compare(b, ComparePredicate::lt, bits, splatInteger(b, type, 0));
  return select(b, isNegative, XorOp::create(b, type, bits, others), bits);
}

Value signedOf(Source &s, unsigned operand) {
  Value x = s.operands[operand];
  return s.isUnsigned(operand) && elementOf(x).isInteger(32) ? widen(s.b(), x) : x;
}

namespace {

/// Imports a constant. Unsigned constants become signed constants of equal bits; those of 8 and 16
/// bits become their numbers.
Values importConstant(Source &s) {
  auto value = s.op->getAttrOfType<ElementsAttr>("value");
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(value);
      dense && isNarrow(dense.getType()))
    value = dense.mapValues(s.b().getI32Type(), [&](const APInt &number) {
      return dense.getElementType().isUnsignedInteger() ? number.zext(32) : number.sext(32);
    });
  else if (dense && dense.getElementType() != s.type().getElementType())
    value = dense.bitcast(s.type().getElementType());
  auto splat = dyn_cast_or_null<DenseElementsAttr>(value);
  if (s.importer.lifted && splat && splat.isSplat())
    value = splat.resizeSplat(s.type());
  if (!value || value.getType() != s.type())
    return s.refuse("holds its elements in an unknown format");
  return {ConstantOp::create(s.b(), value)};
}

/// Converts from unsigned. Numbers from 2^63 on are negative here, so the number is halved, with
/// the lowest bit kept for the rounding, converted exactly, and doubled.
Value fromUnsigned(Builder &b, Value x, Type element) {
  if (elementOf(x).isInteger(32))
    return convertTo(b, widen(b, x), element);
  auto constant = [&](int64_t number) { return splatInteger(b, typeOf(x), number); };
  if (!isa<FloatType>(element))
    return convertTo(b, x, element);
  Value half = ShiftRightOp::create(b, x.getType(), x, constant(1));
  Value odd = AndOp::create(b, x.getType(), x, constant(1));
  half = convertTo(b, OrOp::create(b, x.getType(), half, odd), element);
  Value twice = AddOp::create(b, half.getType(), half, half);
  Value isLarge = compare(b, ComparePredicate::lt, x, constant(0));
  return select(b, isLarge, twice, convertTo(b, x, element));
}

Values importConvert(Source &s) {
  Value x = s.operands[0];
  Type element = s.type().getElementType();
  Type target = getElementTypeOrSelf(s.op->getResult(0));
  if (isFloat(x) && isNarrow(target))
    return {narrowFromFloat(s.b(), x, target)};
  if (isFloat(x) && target.isUnsignedInteger()) {
    if (target.isInteger(64))
      return s.refuse("from a float to a 64-bit unsigned integer");
    Value wide = convertTo(s.b(), x, s.b().getI64Type());
    wide = maximum(s.b(), wide, splatInteger(s.b(), typeOf(wide), 0));
    wide = minimum(s.b(), wide, splatInteger(s.b(), typeOf(wide), 0xffffffffll));
    return {convertTo(s.b(), wide, element)};
  }
  if (s.isUnsigned(0) && element != elementOf(x) && !element.isInteger(1))
    return {fromUnsigned(s.b(), x, element)};
  return {convertTo(s.b(), x, element)};
}

Values importBitcast(Source &s) {
  Type from = s.op->getOperand(0).getType(), to = s.op->getResult(0).getType();
  unsigned width = getElementTypeOrSelf(from).getIntOrFloatBitWidth();
  bool isSame = s.type().getShape() == s.operandType(0).getShape() &&
                width == getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (isSame && s.type() == s.operands[0].getType())
    return {s.operands[0]};
  Value half = isSame && isNarrow(from)
                   ? floatOfNarrow(s.b(), s.operands[0], from, s.type().getElementType())
                   : Value();
  if (half)
    return {half};
  if (!isSame || width < 32 || s.type().getShape() != s.operandType(0).getShape() ||
      s.type().getElementTypeBitWidth() < 32)
    return s.refuse("between types whose widths differ, or are not 32 or 64 bits");
  return {BitcastOp::create(s.b(), s.type(), s.operands[0])};
}

Values importIota(Source &s) {
  int64_t dim = s.integer("iota_dimension", 0);
  if (s.type().getElementType().isInteger(1) || !Source::areDims(dim, s.type().getRank()))
    return s.refuse("of booleans, or along a dimension out of range");
  return {IotaOp::create(s.b(), s.type(), dim)};
}

} // namespace

void addNumbers(Handlers &handlers) {
  handlers["stablehlo.constant"] = {importConstant, 0};
  handlers["chlo.constant"] = {importConstant, 0};
  handlers["stablehlo.convert"] = {importConvert, 1};
  handlers["stablehlo.bitcast_convert"] = {importBitcast, 1};
  handlers["stablehlo.iota"] = {importIota, 0};
}

} // namespace reprise::stablehlo
