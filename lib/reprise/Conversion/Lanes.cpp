// reprise: constants and polynomials of emitted arithmetic.

#include "Lanes.h"

using namespace mlir;

namespace reprise {

Type Lanes::shaped(Type like, Type elementType) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(elementType);
  return elementType;
}

Lanes::Lanes(ImplicitLocOpBuilder &builder, Type floatType)
    : b(builder), floats(floatType), isDouble(getElementTypeOrSelf(floatType).isF64()) {
  assert((isDouble || getElementTypeOrSelf(floatType).isF32()) && "arithmetic is on f32 or f64");
  integers = shaped(floats, b.getIntegerType(bitWidth()));
}

static Value splat(ImplicitLocOpBuilder &b, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, element);
  return arith::ConstantOp::create(b, element);
}

Value Lanes::constant(ImplicitLocOpBuilder &b, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  return splat(b, type, b.getFloatAttr(element, value));
}

Value Lanes::constantInt(ImplicitLocOpBuilder &b, Type type, int64_t value) {
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

} // namespace reprise
