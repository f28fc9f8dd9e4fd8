// reprise: integers of 8 and 16 bits of StableHLO, which are numbers in i32
//
// Our dialect has no such types. A value holds the same numbers in i32, signed or unsigned, and
// every op that may leave their range wraps its result. Order, division and conversions are
// therefore those of i32.
#include "Importer.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace reprise::stablehlo {

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isInteger(8) || element.isInteger(16);
}

static Value constant(Builder &b, Value like, int64_t number) {
  return splatInteger(b, typeOf(like), number);
}

Value wrapNarrow(Builder &b, Value x, Type source) {
  Type element = getElementTypeOrSelf(source);
  int64_t values = int64_t(1) << element.getIntOrFloatBitWidth(), half = values / 2;
  Value low = AndOp::create(b, x.getType(), x, constant(b, x, values - 1));
  if (element.isUnsignedInteger())
    return low;
  Value moved = XorOp::create(b, x.getType(), low, constant(b, x, half));
  return SubOp::create(b, x.getType(), moved, constant(b, x, half));
}

Value bitsOfNarrow(Builder &b, Value x, Type source) {
  int64_t width = getElementTypeOrSelf(source).getIntOrFloatBitWidth();
  return AndOp::create(b, x.getType(), x, constant(b, x, (int64_t(1) << width) - 1));
}

bool keepsRange(Operation *op) {
  static const llvm::StringSet<> names = {"constant",
                                          "reshape",
                                          "broadcast_in_dim",
                                          "slice",
                                          "concatenate",
                                          "transpose",
                                          "select",
                                          "reverse",
                                          "dynamic_slice",
                                          "dynamic_update_slice",
                                          "gather",
                                          "and",
                                          "or",
                                          "maximum",
                                          "minimum",
                                          "clamp",
                                          "sort",
                                          "while",
                                          "case",
                                          "if",
                                          "custom_call",
                                          "pad",
                                          "top_k",
                                          "call",
                                          "optimization_barrier"};
  return names.contains(op->getName().getStringRef().split('.').second);
}

/// Numbers out of the range become its ends, and NaN becomes 0, as in XLA.
Value narrowFromFloat(Builder &b, Value x, Type source) {
  Type element = getElementTypeOrSelf(source);
  int64_t values = int64_t(1) << element.getIntOrFloatBitWidth();
  int64_t low = element.isUnsignedInteger() ? 0 : -values / 2;
  Value whole = convertTo(b, x, b.getI32Type());
  whole = maximum(b, whole, constant(b, whole, low));
  return minimum(b, whole, constant(b, whole, low + values - 1));
}

/// Converts 16-bit floats from bits, widened to f32. A scale makes the exponents fit, denormal
/// numbers included; infinities and NaNs have the largest exponent of f32.
static Value halfOfBits(Builder &b, Value bits) {
  auto type = typeOf(bits).clone(b.getF32Type());
  Value size = AndOp::create(b, bits.getType(), bits, constant(b, bits, 0x7fff));
  Value moved = ShiftLeftOp::create(b, bits.getType(), size, constant(b, bits, 13));
  Value finite = BitcastOp::create(b, type, moved);
  finite = MulOp::create(b, type, finite, splat(b, type, 0x1p112));
  Value other = BitcastOp::create(
      b, type, OrOp::create(b, bits.getType(), moved, constant(b, bits, 0x7f800000)));
  Value isOther = compare(b, ComparePredicate::ge, size, constant(b, bits, 0x7c00));
  Value number = select(b, isOther, other, finite);
  Value isNegative = compare(b, ComparePredicate::ne, size, bits);
  return select(b, isNegative, NegOp::create(b, number), number);
}

/// Returns the 16-bit float; null for any other type.
Value floatOfNarrow(Builder &b, Value x, Type source, Type element) {
  if (!element.isBF16() && !element.isF16())
    return {};
  Value bits = bitsOfNarrow(b, x, source);
  if (element.isF16())
    return convertTo(b, halfOfBits(b, bits), element);
  Value moved = ShiftLeftOp::create(b, bits.getType(), bits, constant(b, bits, 16));
  return convertTo(b, BitcastOp::create(b, typeOf(bits).clone(b.getF32Type()), moved), element);
}

} // namespace reprise::stablehlo
