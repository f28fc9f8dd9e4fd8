// reprise: constants and polynomials of emitted arithmetic.

#include "Lanes.h"

using namespace mlir;

namespace reprise {

Type shapedAs(Type like, Type elementType) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(elementType);
  return elementType;
}

Lanes::Lanes(ImplicitLocOpBuilder &builder, Type floatType)
    : b(builder), floats(floatType), format{getElementTypeOrSelf(floatType).isF64()} {
  assert((format.isDouble || getElementTypeOrSelf(floatType).isF32()) &&
         "arithmetic is on f32 or f64");
  integers = shapedAs(floats, b.getIntegerType(format.bitWidth()));
}

static Value splat(ImplicitLocOpBuilder &b, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, element);
  return arith::ConstantOp::create(b, element);
}

Value floatLanes(ImplicitLocOpBuilder &b, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  return splat(b, type, b.getFloatAttr(element, value));
}

Value integerLanes(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  APInt bits(64, static_cast<uint64_t>(value));
  return splat(b, type, b.getIntegerAttr(element, bits.trunc(element.getWidth())));
}

Value Lanes::hornerOf(ArrayRef<double> coefficients, Value x) {
  Value result = f(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    result = fma(result, x, f(coefficient));
  return result;
}

Value emitAbsolute(Lanes &l, Value x) {
  return l.fromBits(l.andBits(l.toBits(x), l.i(~l.format.signBit())));
}

Value emitWithSignOf(Lanes &l, Value magnitude, Value x) {
  return l.fromBits(l.orBits(l.toBits(magnitude), l.andBits(l.toBits(x), l.i(l.format.signBit()))));
}

} // namespace reprise
