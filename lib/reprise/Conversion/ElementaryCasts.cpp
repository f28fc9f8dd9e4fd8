// reprise: emission of conversions between element types and of integer division.
//
// The code uses only instructions that round correctly on every x86-64 with F16C and on a GPU.
// Excluded are f32 to bf16 (a call, or an instruction that flushes subnormals) and f64 to f16 (a
// call).

#include "Lanes.h"
#include "reprise/Conversion/Elementary.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace reprise {
namespace {

bool isSixteenBit(Type type) { return type.isBF16() || type.isF16(); }

/// The bits of f32 `x` with a bf16 in the upper half, rounded to nearest even; the lower half is
/// junk.
Value emitBf16Bits(Lanes &l, Value x) {
  Value bits = l.toBits(x);
  Value odd = l.andBits(l.shiftRight(bits, 16), l.i(1));
  Value nearest = l.addBits(l.addBits(bits, l.i(0x7fff)), odd);
  Value isNan = l.compare(arith::CmpFPredicate::UNO, x, x);
  // We select before the truncation, because the select is then as wide as the comparison.
  return l.select(isNan, l.i(0x7fc00000), nearest);
}

Value emitCanonicalNan(Lanes &l, Value x) {
  Value isNan = l.compare(arith::CmpFPredicate::UNO, x, x);
  return l.select(isNan, l.fromBits(l.i(0x7fc00000)), x);
}

/// Converts f32 to bf16 or f16.
Value emitNarrow(ImplicitLocOpBuilder &b, Value x, Type elementType) {
  Lanes l(b, x);
  Type type = shapedAs(x.getType(), elementType);
  if (elementType.isF16())
    return arith::TruncFOp::create(b, type, emitCanonicalNan(l, x));
  Value high = l.shiftRight(emitBf16Bits(l, x), 16);
  high = arith::TruncIOp::create(b, shapedAs(x.getType(), b.getI16Type()), high);
  return arith::BitcastOp::create(b, type, high);
}

/// Converts bf16 or f16 to f32.
Value emitWiden(ImplicitLocOpBuilder &b, Value x) {
  Type f32 = shapedAs(x.getType(), b.getF32Type());
  if (getElementTypeOrSelf(x).isF16())
    return arith::ExtFOp::create(b, f32, x);
  Type i32 = shapedAs(x.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, shapedAs(x.getType(), b.getI16Type()), x);
  bits = arith::ExtUIOp::create(b, i32, bits);
  bits = arith::ShLIOp::create(b, bits, integerLanes(b, i32, 16));
  return arith::BitcastOp::create(b, f32, bits);
}

/// Converts f64 to f32, rounded to odd: of the two neighbours of an inexact value, the neighbour
/// with an odd mantissa. A second rounding to 16 bits then gives the result of a single rounding of
/// the f64, since f32 has at least two bits more than either format.
Value emitRoundToOdd(ImplicitLocOpBuilder &b, Value x) {
  Lanes wide(b, x);
  Type f32 = shapedAs(x.getType(), b.getF32Type());
  Lanes l(b, f32);
  Value near = arith::TruncFOp::create(b, f32, x);
  Value back = arith::ExtFOp::create(b, x.getType(), near);
  Value bits = l.toBits(near);
  // Bits of floats grow with their magnitude.
  Value tooLarge = wide.less(emitAbsolute(wide, x), emitAbsolute(wide, back));
  Value other = l.addBits(bits, l.select(tooLarge, l.i(-1), l.i(1)));
  Value isOdd = l.compare(arith::CmpIPredicate::ne, l.andBits(bits, l.i(1)), l.i(0));
  // Unordered or equal means exact or NaN, which stays.
  Value isExact = wide.compare(arith::CmpFPredicate::UEQ, back, x);
  Value stays = arith::OrIOp::create(b, isExact, isOdd);
  return l.fromBits(l.select(stays, bits, other));
}

/// Converts an i64 to an f64 that rounds to 16 bits as the integer does: exact, or with its lowest
/// bit set for all lost bits.
Value emitSticky(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  auto constant = [&](int64_t value) { return integerLanes(b, type, value); };
  // Integers below 2^53 in magnitude are exact. Of larger integers, 53 of at most 64 bits stay.
  Value high = arith::AndIOp::create(b, x, constant(~int64_t(0x7ff)));
  Value rest = arith::AndIOp::create(b, x, constant(0x7ff));
  Value lost = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, constant(0));
  Value odd =
      arith::OrIOp::create(b, high, arith::SelectOp::create(b, lost, constant(0x800), constant(0)));
  Value moved = arith::AddIOp::create(b, x, constant(int64_t(1) << 53));
  Value isSmall =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, moved, constant(int64_t(1) << 54));
  Value kept = arith::SelectOp::create(b, isSmall, x, odd);
  return arith::SIToFPOp::create(b, shapedAs(type, b.getF64Type()), kept);
}

/// Converts f32 or f64 to i32 or i64.
Value emitToInteger(ImplicitLocOpBuilder &b, Value x, Type elementType) {
  Lanes l(b, x);
  Type type = shapedAs(x.getType(), elementType);
  const bool isLong = elementType.isInteger(64);
  // Both limits are powers of two, so they are exact.
  Value end = l.f(isLong ? 0x1p63 : 0x1p31);
  Value begin = l.f(isLong ? -0x1p63 : -0x1p31);
  Value above = l.compare(arith::CmpFPredicate::OGE, x, end);
  Value below = l.less(x, begin);
  Value isNan = l.compare(arith::CmpFPredicate::UNO, x, x);
  Value outside = arith::OrIOp::create(b, arith::OrIOp::create(b, above, below), isNan);
  // The conversion is undefined outside of the range.
  Value converted = arith::FPToSIOp::create(b, type, l.select(outside, l.f(0), x));
  auto limit = [&](auto limits32, auto limits64) {
    return integerLanes(b, type, isLong ? int64_t(limits64) : int64_t(limits32));
  };
  Value greatest = limit(std::numeric_limits<int32_t>::max(), std::numeric_limits<int64_t>::max());
  Value least = limit(std::numeric_limits<int32_t>::min(), std::numeric_limits<int64_t>::min());
  return l.select(above, greatest, l.select(below, least, converted));
}

Value emitToBool(ImplicitLocOpBuilder &b, Value x) {
  if (isa<IntegerType>(getElementTypeOrSelf(x)))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, integerLanes(b, x.getType(), 0));
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, floatLanes(b, x.getType(), 0));
}

Value emitFromInteger(ImplicitLocOpBuilder &b, Value x, Type elementType) {
  Type from = getElementTypeOrSelf(x);
  Type type = shapedAs(x.getType(), elementType);
  if (from.isInteger(1)) {
    if (isa<IntegerType>(elementType))
      return arith::ExtUIOp::create(b, type, x);
    return arith::SelectOp::create(b, x, floatLanes(b, type, 1), floatLanes(b, type, 0));
  }
  if (auto to = dyn_cast<IntegerType>(elementType))
    return to.getWidth() > from.getIntOrFloatBitWidth()
               ? arith::ExtSIOp::create(b, type, x).getResult()
               : arith::TruncIOp::create(b, type, x).getResult();
  if (!isSixteenBit(elementType))
    return arith::SIToFPOp::create(b, type, x);
  Value wide = from.isInteger(64)
                   ? emitSticky(b, x)
                   : arith::SIToFPOp::create(b, shapedAs(type, b.getF64Type()), x).getResult();
  return emitNarrow(b, emitRoundToOdd(b, wide), elementType);
}

/// A divisor that no quotient is undefined for.
Value emitSafeDivisor(ImplicitLocOpBuilder &b, Value x, Value y, Value isZero) {
  Type type = x.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto equals = [&](Value value, int64_t constant) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                                 integerLanes(b, type, constant));
  };
  Value overflows = arith::AndIOp::create(b, equals(x, upperBits(width - 1)), equals(y, -1));
  Value unsafe = arith::OrIOp::create(b, isZero, overflows);
  return arith::SelectOp::create(b, unsafe, integerLanes(b, type, 1), y);
}

Value emitIsZero(ImplicitLocOpBuilder &b, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y, integerLanes(b, y.getType(), 0));
}

} // namespace

Value emitDivide(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value isZero = emitIsZero(b, y);
  Value quotient = arith::DivSIOp::create(b, x, emitSafeDivisor(b, x, y, isZero));
  return arith::SelectOp::create(b, isZero, integerLanes(b, x.getType(), -1), quotient);
}

Value emitRemainder(ImplicitLocOpBuilder &b, Value x, Value y) {
  Value isZero = emitIsZero(b, y);
  Value remainder = arith::RemSIOp::create(b, x, emitSafeDivisor(b, x, y, isZero));
  return arith::SelectOp::create(b, isZero, x, remainder);
}

Value emitCast(ImplicitLocOpBuilder &b, Value x, Type elementType) {
  Type from = getElementTypeOrSelf(x);
  if (from == elementType)
    return x;
  if (isa<IntegerType>(from) && !elementType.isInteger(1))
    return emitFromInteger(b, x, elementType);
  if (isSixteenBit(from)) {
    Value wide = emitWiden(b, x);
    return elementType.isF32() ? wide : emitCast(b, wide, elementType);
  }
  if (elementType.isInteger(1))
    return emitToBool(b, x);
  if (isa<IntegerType>(elementType))
    return emitToInteger(b, x, elementType);
  if (isSixteenBit(elementType))
    return emitNarrow(b, from.isF64() ? emitRoundToOdd(b, x) : x, elementType);
  Type type = shapedAs(x.getType(), elementType);
  if (elementType.isF64())
    return arith::ExtFOp::create(b, type, x);
  return arith::TruncFOp::create(b, type, x);
}

Value emitRoundTo(ImplicitLocOpBuilder &b, Value x, Type elementType) {
  if (!isSixteenBit(elementType))
    return x;
  Lanes l(b, x);
  if (elementType.isF16())
    return arith::ExtFOp::create(b, x.getType(), emitNarrow(b, x, elementType));
  return l.fromBits(l.andBits(emitBf16Bits(l, x), l.i(int64_t(0xffff0000))));
}

} // namespace reprise
