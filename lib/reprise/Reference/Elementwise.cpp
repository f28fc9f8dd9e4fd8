// reprise: elementwise ops in the interpreter.
#include "Models.h"
#include "reprise/Reference/Elementary.h"
#include <cmath>

using namespace mlir;

namespace reprise::reference {
namespace {

//===-- One operand ---------------------------------------------------------------------------===//

template <typename T> T negate(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(-static_cast<uint64_t>(x));
  else
    return -x;
}

template <typename T> T absolute(T x) {
  if constexpr (std::is_integral_v<T>)
    return x < 0 ? negate(x) : x;
  else
    return std::fabs(x);
}

#define REPRISE_UNARY(NAME, FORMULA)                                                               \
  struct NAME {                                                                                    \
    template <typename T> T operator()(T x) const { return FORMULA; }                              \
  };
REPRISE_UNARY(Neg, negate(x))
REPRISE_UNARY(Abs, absolute(x))
REPRISE_UNARY(Exp, exp(x))
REPRISE_UNARY(Log, log(x))
REPRISE_UNARY(Sqrt, sqrt(x))
REPRISE_UNARY(Rsqrt, rsqrt(x))
REPRISE_UNARY(Tanh, tanh(x))
REPRISE_UNARY(Erf, erf(x))
REPRISE_UNARY(Sigmoid, sigmoid(x))
REPRISE_UNARY(Silu, x *sigmoid(x))
REPRISE_UNARY(Sin, sin(x))
REPRISE_UNARY(Cos, cos(x))
REPRISE_UNARY(Floor, std::floor(x))
REPRISE_UNARY(Relu, x < 0 ? T(0) : x)
REPRISE_UNARY(Not, !x)
REPRISE_UNARY(GeluByErf, (T(0.5) * x) * (T(1) + erf(x * T(0.70710678118654752440))))
REPRISE_UNARY(GeluByTanh, (T(0.5) * x) * (T(1) + tanh(T(0.79788456080286535588) *
                                                      (x + T(0.044715) * ((x * x) * x)))))
#undef REPRISE_UNARY

template <typename T, typename Function>
Tensor mapUnary(RankedTensorType type, const Tensor &operand) {
  Values<T> x(operand);
  std::vector<T> result(operand.size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = Function()(x[i]);
  return round(type, result);
}

template <typename OpT, typename Function> Results evaluateFloatUnary(OpT op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    return mapUnary<decltype(zero), Function>(op.getType(), *operands[0]);
  }));
}

template <typename OpT, typename Function> Results evaluateUnary(OpT op, Operands operands) {
  return single(withNumber(op.getType().getElementType(), [&](auto zero) {
    return mapUnary<decltype(zero), Function>(op.getType(), *operands[0]);
  }));
}

Results evaluateGelu(GeluOp op, Operands operands) {
  return op.getForm() == GeluForm::erf ? evaluateFloatUnary<GeluOp, GeluByErf>(op, operands)
                                       : evaluateFloatUnary<GeluOp, GeluByTanh>(op, operands);
}

/// `value` rounded to the element type.
double roundedTo(Type elementType, double value) {
  if (elementType.isBF16())
    return fromBf16(toBf16(value));
  if (elementType.isF16())
    return fromF16(toF16(value));
  return elementType.isF32() ? static_cast<float>(value) : value;
}

Results evaluateClamp(ClampOp op, Operands operands) {
  Type elementType = op.getType().getElementType();
  return single(withFloat(elementType, [&](auto zero) {
    using T = decltype(zero);
    T low = static_cast<T>(roundedTo(elementType, op.getLow()));
    T high = static_cast<T>(roundedTo(elementType, op.getHigh()));
    Values<T> x(*operands[0]);
    std::vector<T> result;
    for (int64_t i = 0; i < operands[0]->size(); ++i)
      result.push_back(minimum(maximum(x[i], low), high));
    return round(op.getType(), result);
  }));
}

Results evaluateNot(NotOp op, Operands operands) {
  return single(mapUnary<uint8_t, Not>(op.getType(), *operands[0]));
}

//===-- Two operands, with broadcasting -------------------------------------------------------===//

struct Add {
  template <typename T> T operator()(T x, T y) const { return wrappingAdd(x, y); }
};
struct Sub {
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return wrappingAdd(x, negate(y));
    else
      return x - y;
  }
};
struct Mul {
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    else
      return x * y;
  }
};
struct Div {
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return divide(x, y);
    else
      return x / y;
  }
};
struct Rem {
  template <typename T> T operator()(T x, T y) const { return remainder(x, y); }
};
struct Pow {
  template <typename T> T operator()(T x, T y) const { return pow(x, y); }
};
struct And {
  template <typename T> T operator()(T x, T y) const { return x & y; }
};
struct Or {
  template <typename T> T operator()(T x, T y) const { return x | y; }
};
struct Xor {
  template <typename T> T operator()(T x, T y) const { return x ^ y; }
};
struct Maximum {
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return std::max(x, y);
    else
      return maximum(x, y);
  }
};
struct Minimum {
  template <typename T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return std::min(x, y);
    else
      return minimum(x, y);
  }
};

/// Returns the positions of the elements of a tensor of `shape` for each element of `target`,
/// aligned at the last dimension.
std::vector<int64_t> broadcastPositions(ArrayRef<int64_t> shape, ArrayRef<int64_t> target) {
  SmallVector<int64_t> strides(target.size(), 0), own = stridesOf(shape);
  size_t missing = target.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    strides[missing + d] = shape[d] == 1 ? 0 : own[d];
  return positions(target, strides);
}

/// Returns the operand repeated to `shape`; `storage` holds a new tensor.
const Tensor &broadcast(const Tensor &operand, ArrayRef<int64_t> shape, Tensor &storage) {
  if (operand.type.getShape() == shape)
    return operand;
  auto type = RankedTensorType::get(shape, operand.type.getElementType());
  storage = gatherElements(type, operand, broadcastPositions(operand.type.getShape(), shape));
  return storage;
}

template <typename T, typename R, typename Function>
Tensor mapBinary(RankedTensorType type, Operands operands, Function function) {
  Tensor left, right;
  Values<T> x(broadcast(*operands[0], type.getShape(), left)),
      y(broadcast(*operands[1], type.getShape(), right));
  std::vector<R> result(type.getNumElements());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = function(x[i], y[i]);
  return round(type, result);
}

template <typename OpT, typename Function> Results evaluateBinary(OpT op, Operands operands) {
  return single(withNumber(op.getType().getElementType(), [&](auto zero) {
    return mapBinary<decltype(zero), decltype(zero)>(op.getType(), operands, Function());
  }));
}

Results evaluatePow(PowOp op, Operands operands) {
  return single(withFloat(op.getType().getElementType(), [&](auto zero) {
    return mapBinary<decltype(zero), decltype(zero)>(op.getType(), operands, Pow());
  }));
}

template <typename OpT, typename Function> Results evaluateLogical(OpT op, Operands operands) {
  Type element = op.getType().getElementType();
  if (element.isInteger(32))
    return single(mapBinary<int32_t, int32_t>(op.getType(), operands, Function()));
  if (element.isInteger(64))
    return single(mapBinary<int64_t, int64_t>(op.getType(), operands, Function()));
  return single(mapBinary<uint8_t, uint8_t>(op.getType(), operands, Function()));
}

template <bool isLeft> struct Shift {
  template <typename T> T operator()(T x, T places) const {
    using Unsigned = std::make_unsigned_t<T>;
    if (places < 0 || places >= T(8 * sizeof(T)))
      return 0;
    return isLeft ? Unsigned(x) << places : Unsigned(x) >> places;
  }
};

template <typename OpT, bool isLeft> Results evaluateShift(OpT op, Operands operands) {
  if (op.getType().getElementType().isInteger(32))
    return single(mapBinary<int32_t, int32_t>(op.getType(), operands, Shift<isLeft>()));
  return single(mapBinary<int64_t, int64_t>(op.getType(), operands, Shift<isLeft>()));
}

Results evaluateBitcast(BitcastOp op, Operands operands) {
  Tensor result(op.getType());
  std::memcpy(result.bytes.data(), operands[0]->bytes.data(), result.bytes.size());
  return single(std::move(result));
}

Results evaluateRem(RemOp op, Operands operands) {
  if (op.getType().getElementType().isInteger(32))
    return single(mapBinary<int32_t, int32_t>(op.getType(), operands, Rem()));
  return single(mapBinary<int64_t, int64_t>(op.getType(), operands, Rem()));
}

template <typename T> bool compare(ComparePredicate predicate, T x, T y) {
  switch (predicate) {
  case ComparePredicate::eq:
    return x == y;
  case ComparePredicate::ne:
    return x != y;
  case ComparePredicate::lt:
    return x < y;
  case ComparePredicate::le:
    return x <= y;
  case ComparePredicate::gt:
    return x > y;
  case ComparePredicate::ge:
    return x >= y;
  }
  llvm_unreachable("all predicates are handled");
}

Results evaluateCompare(CompareOp op, Operands operands) {
  return single(withElement(operands[0]->type.getElementType(), [&](auto zero) {
    using T = decltype(zero);
    auto holds = [&](T x, T y) -> uint8_t { return compare(op.getPredicate(), x, y); };
    return mapBinary<T, uint8_t>(op.getType(), operands, holds);
  }));
}

Results evaluateSelect(SelectOp op, Operands operands) {
  Tensor result(op.getType());
  int64_t width = elementBytes(op.getType().getElementType());
  for (int64_t i = 0; i < result.size(); ++i) {
    const Tensor &chosen = operands[0]->bytes[i] ? *operands[1] : *operands[2];
    std::memcpy(&result.bytes[i * width], &chosen.bytes[i * width], width);
  }
  return single(std::move(result));
}

//===-- cast ----------------------------------------------------------------------------------===//

Results evaluateCast(CastOp op, Operands operands) {
  Tensor result(op.getType());
  withElement(operands[0]->type.getElementType(), [&](auto zero) {
    Values<decltype(zero)> x(*operands[0]);
    for (int64_t i = 0; i < result.size(); ++i)
      store(result, i, x[i]);
  });
  return single(std::move(result));
}

} // namespace

REPRISE_EVALUATE(NegOp, evaluateUnary<NegOp, Neg>)
REPRISE_EVALUATE(AbsOp, evaluateUnary<AbsOp, Abs>)
REPRISE_EVALUATE(ReluOp, evaluateUnary<ReluOp, Relu>)
REPRISE_EVALUATE(ExpOp, evaluateFloatUnary<ExpOp, Exp>)
REPRISE_EVALUATE(LogOp, evaluateFloatUnary<LogOp, Log>)
REPRISE_EVALUATE(SqrtOp, evaluateFloatUnary<SqrtOp, Sqrt>)
REPRISE_EVALUATE(RsqrtOp, evaluateFloatUnary<RsqrtOp, Rsqrt>)
REPRISE_EVALUATE(TanhOp, evaluateFloatUnary<TanhOp, Tanh>)
REPRISE_EVALUATE(ErfOp, evaluateFloatUnary<ErfOp, Erf>)
REPRISE_EVALUATE(SigmoidOp, evaluateFloatUnary<SigmoidOp, Sigmoid>)
REPRISE_EVALUATE(SiluOp, evaluateFloatUnary<SiluOp, Silu>)
REPRISE_EVALUATE(SinOp, evaluateFloatUnary<SinOp, Sin>)
REPRISE_EVALUATE(CosOp, evaluateFloatUnary<CosOp, Cos>)
REPRISE_EVALUATE(FloorOp, evaluateFloatUnary<FloorOp, Floor>)
REPRISE_EVALUATE(GeluOp, evaluateGelu)
REPRISE_EVALUATE(ClampOp, evaluateClamp)
REPRISE_EVALUATE(NotOp, evaluateNot)
REPRISE_EVALUATE(AddOp, evaluateBinary<AddOp, Add>)
REPRISE_EVALUATE(SubOp, evaluateBinary<SubOp, Sub>)
REPRISE_EVALUATE(MulOp, evaluateBinary<MulOp, Mul>)
REPRISE_EVALUATE(DivOp, evaluateBinary<DivOp, Div>)
REPRISE_EVALUATE(RemOp, evaluateRem)
REPRISE_EVALUATE(MaximumOp, evaluateBinary<MaximumOp, Maximum>)
REPRISE_EVALUATE(MinimumOp, evaluateBinary<MinimumOp, Minimum>)
REPRISE_EVALUATE(PowOp, evaluatePow)
REPRISE_EVALUATE(AndOp, evaluateLogical<AndOp, And>)
REPRISE_EVALUATE(OrOp, evaluateLogical<OrOp, Or>)
REPRISE_EVALUATE(XorOp, evaluateLogical<XorOp, Xor>)
REPRISE_EVALUATE(ShiftLeftOp, evaluateShift<ShiftLeftOp, true>)
REPRISE_EVALUATE(ShiftRightOp, evaluateShift<ShiftRightOp, false>)
REPRISE_EVALUATE(BitcastOp, evaluateBitcast)
REPRISE_EVALUATE(CompareOp, evaluateCompare)
REPRISE_EVALUATE(SelectOp, evaluateSelect)
REPRISE_EVALUATE(CastOp, evaluateCast)

} // namespace reprise::reference
