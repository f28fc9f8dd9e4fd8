// reprise: the arithmetic of the elementwise ops; the formulas are those of the ops' descriptions
#include "../Lanes.h"
#include "reprise/Conversion/Elementary.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Conversion/Emission.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace reprise {
namespace {

using Builder = ImplicitLocOpBuilder;

bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x)); }

/// The float or the integer operation, whatever the operands are.
template <typename FloatOp, typename IntegerOp> Value either(Builder &b, Value x, Value y) {
  return isFloat(x) ? FloatOp::create(b, x, y).getResult() : IntegerOp::create(b, x, y).getResult();
}

Value emitNeg(Builder &b, Value x) {
  if (isFloat(x))
    return arith::NegFOp::create(b, x);
  return arith::SubIOp::create(b, emitConstant(b, x.getType(), 0), x);
}

Value emitLess(Builder &b, Value x, Value y) {
  if (isFloat(x))
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value emitAbs(Builder &b, Value x) {
  if (isFloat(x))
    return math::AbsFOp::create(b, x);
  return arith::SelectOp::create(b, emitLess(b, x, emitConstant(b, x.getType(), 0)), emitNeg(b, x),
                                 x);
}

Value emitRelu(Builder &b, Value x) {
  Value zero = emitConstant(b, x.getType(), 0);
  return arith::SelectOp::create(b, emitLess(b, x, zero), zero, x);
}

Value emitSilu(Builder &b, Value x) { return arith::MulFOp::create(b, x, emitSigmoid(b, x)); }

Value emitGelu(Builder &b, Value x, GeluForm form) {
  auto c = [&](double value) { return emitConstant(b, x.getType(), value); };
  auto mul = [&](Value l, Value r) { return arith::MulFOp::create(b, l, r).getResult(); };
  auto add = [&](Value l, Value r) { return arith::AddFOp::create(b, l, r).getResult(); };
  Value inner;
  if (form == GeluForm::erf) {
    inner = emitErf(b, mul(x, c(0.70710678118654752440)));
  } else {
    Value cube = mul(mul(x, x), x);
    inner = emitTanh(b, mul(c(0.79788456080286535588), add(x, mul(c(0.044715), cube))));
  }
  return mul(mul(c(0.5), x), add(c(1), inner));
}

Value emitCompare(Builder &b, ComparePredicate predicate, Value x, Value y) {
  if (isFloat(x)) {
    constexpr arith::CmpFPredicate floats[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE, arith::CmpFPredicate::OLT,
        arith::CmpFPredicate::OLE, arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return arith::CmpFOp::create(b, floats[static_cast<int>(predicate)], x, y);
  }
  // An i1 would be -1 as a signed number.
  bool boolean = getElementTypeOrSelf(x).isInteger(1);
  constexpr arith::CmpIPredicate integers[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,  arith::CmpIPredicate::slt,
      arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  constexpr arith::CmpIPredicate booleans[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,  arith::CmpIPredicate::ult,
      arith::CmpIPredicate::ule, arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  return arith::CmpIOp::create(b, (boolean ? booleans : integers)[static_cast<int>(predicate)], x,
                               y);
}

/// Converts `x` from the compute type of `from` to that of `to`, rounded to `to` unless the caller
/// rounds.
Value emitConversion(Builder &b, Value x, Type from, Type to) {
  Type source = getElementTypeOrSelf(x), target = getComputeType(to);
  if (source == target)
    return x;
  if (target == to)
    return emitCast(b, x, to);
  // f64 and integers convert to 16 bits directly, because a step through f32 would round twice.
  return emitCast(b, emitCast(b, x, to), target);
}

Value emitMin(Builder &b, Value x, Value y) {
  return isFloat(x) ? emitMinimum(b, x, y) : arith::MinSIOp::create(b, x, y).getResult();
}
Value emitMax(Builder &b, Value x, Value y) {
  return isFloat(x) ? emitMaximum(b, x, y) : arith::MaxSIOp::create(b, x, y).getResult();
}

/// Clamps; the bounds are rounded to the element type, which may be narrower than the compute type.
Value emitClamp(Builder &b, Value x, Type elementType, double low, double high) {
  auto bound = [&](double value) {
    APFloat number(value);
    bool loses;
    number.convert(cast<FloatType>(elementType).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &loses);
    return emitConstant(b, x.getType(), number.convertToDouble());
  };
  return emitMinimum(b, emitMaximum(b, x, bound(low)), bound(high));
}

Value emitNot(Builder &b, Value x) {
  return arith::XOrIOp::create(b, x, emitConstant(b, x.getType(), 1));
}

/// A shift by the width or more is poison to LLVM; a negative number of places is a large one.
template <typename OpT> Value emitShift(Builder &b, Value x, Value places) {
  int64_t width = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, places,
                                       emitConstant(b, x.getType(), width));
  Value masked = arith::AndIOp::create(b, places, emitConstant(b, x.getType(), width - 1));
  return arith::SelectOp::create(b, inside, OpT::create(b, x, masked),
                                 emitConstant(b, x.getType(), 0));
}

Value emitBitcast(Builder &b, Value x, Type elementType) {
  Type type = elementType;
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    type = vector.clone(elementType);
  return x.getType() == type ? x : arith::BitcastOp::create(b, type, x).getResult();
}

Type elementTypeOf(Value tensor) { return cast<ShapedType>(tensor.getType()).getElementType(); }

// Overloads, one per op: its arithmetic on the operands `x`.
Value emit(NegOp, Builder &b, ValueRange x) { return emitNeg(b, x[0]); }
Value emit(AbsOp, Builder &b, ValueRange x) { return emitAbs(b, x[0]); }
Value emit(ExpOp, Builder &b, ValueRange x) { return emitExp(b, x[0]); }
Value emit(LogOp, Builder &b, ValueRange x) { return emitLog(b, x[0]); }
Value emit(SqrtOp, Builder &b, ValueRange x) { return emitSqrt(b, x[0]); }
Value emit(RsqrtOp, Builder &b, ValueRange x) { return emitRsqrt(b, x[0]); }
Value emit(TanhOp, Builder &b, ValueRange x) { return emitTanh(b, x[0]); }
Value emit(ErfOp, Builder &b, ValueRange x) { return emitErf(b, x[0]); }
Value emit(SigmoidOp, Builder &b, ValueRange x) { return emitSigmoid(b, x[0]); }
Value emit(SiluOp, Builder &b, ValueRange x) { return emitSilu(b, x[0]); }
Value emit(SinOp, Builder &b, ValueRange x) { return emitSin(b, x[0]); }
Value emit(CosOp, Builder &b, ValueRange x) { return emitCos(b, x[0]); }
Value emit(FloorOp, Builder &b, ValueRange x) { return math::FloorOp::create(b, x[0]); }
Value emit(NotOp, Builder &b, ValueRange x) { return emitNot(b, x[0]); }
Value emit(ReluOp, Builder &b, ValueRange x) { return emitRelu(b, x[0]); }
Value emit(ClampOp op, Builder &b, ValueRange x) {
  return emitClamp(b, x[0], elementTypeOf(op.getResult()), op.getLow(), op.getHigh());
}
Value emit(GeluOp op, Builder &b, ValueRange x) { return emitGelu(b, x[0], op.getForm()); }
Value emit(AddOp, Builder &b, ValueRange x) {
  return either<arith::AddFOp, arith::AddIOp>(b, x[0], x[1]);
}
Value emit(SubOp, Builder &b, ValueRange x) {
  return either<arith::SubFOp, arith::SubIOp>(b, x[0], x[1]);
}
Value emit(MulOp, Builder &b, ValueRange x) {
  return either<arith::MulFOp, arith::MulIOp>(b, x[0], x[1]);
}
Value emit(DivOp, Builder &b, ValueRange x) {
  return isFloat(x[0]) ? arith::DivFOp::create(b, x[0], x[1]).getResult()
                       : emitDivide(b, x[0], x[1]);
}
Value emit(RemOp, Builder &b, ValueRange x) { return emitRemainder(b, x[0], x[1]); }
Value emit(MaximumOp, Builder &b, ValueRange x) { return emitMax(b, x[0], x[1]); }
Value emit(MinimumOp, Builder &b, ValueRange x) { return emitMin(b, x[0], x[1]); }
Value emit(PowOp, Builder &b, ValueRange x) { return emitPow(b, x[0], x[1]); }
Value emit(AndOp, Builder &b, ValueRange x) { return arith::AndIOp::create(b, x[0], x[1]); }
Value emit(OrOp, Builder &b, ValueRange x) { return arith::OrIOp::create(b, x[0], x[1]); }
Value emit(XorOp, Builder &b, ValueRange x) { return arith::XOrIOp::create(b, x[0], x[1]); }
Value emit(ShiftLeftOp, Builder &b, ValueRange x) {
  return emitShift<arith::ShLIOp>(b, x[0], x[1]);
}
Value emit(ShiftRightOp, Builder &b, ValueRange x) {
  return emitShift<arith::ShRUIOp>(b, x[0], x[1]);
}
Value emit(BitcastOp op, Builder &b, ValueRange x) {
  return emitBitcast(b, x[0], elementTypeOf(op.getResult()));
}
Value emit(CompareOp op, Builder &b, ValueRange x) {
  return emitCompare(b, op.getPredicate(), x[0], x[1]);
}
Value emit(SelectOp, Builder &b, ValueRange x) {
  return arith::SelectOp::create(b, x[0], x[1], x[2]);
}
Value emit(CastOp op, Builder &b, ValueRange x) {
  return emitConversion(b, x[0], elementTypeOf(op.getOperand()), elementTypeOf(op.getResult()));
}

template <typename OpT> struct Model : EmissionOpInterface::ExternalModel<Model<OpT>, OpT> {
  Value emitElement(Operation *op, Builder &b, ValueRange operands) const {
    return emit(cast<OpT>(op), b, operands);
  }
};

} // namespace

Value emitCombine(Builder &b, ReductionKind kind, Value x, Value y) {
  switch (kind) {
  case ReductionKind::Sum:
    return either<arith::AddFOp, arith::AddIOp>(b, x, y);
  case ReductionKind::Product:
    return either<arith::MulFOp, arith::MulIOp>(b, x, y);
  case ReductionKind::Max:
    return emitMax(b, x, y);
  case ReductionKind::Min:
    return emitMin(b, x, y);
  }
  llvm_unreachable("unknown reduction");
}

Value emitIdentity(Builder &b, ReductionKind kind, Type type) {
  Type elementType = getElementTypeOrSelf(type);
  if (kind == ReductionKind::Sum || kind == ReductionKind::Product)
    return emitConstant(b, type, kind == ReductionKind::Product);
  bool max = kind == ReductionKind::Max;
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    attribute = b.getFloatAttr(elementType, APFloat::getInf(floatType.getFloatSemantics(), max));
  } else {
    unsigned width = elementType.getIntOrFloatBitWidth();
    attribute = b.getIntegerAttr(elementType, max ? APInt::getSignedMinValue(width)
                                                  : APInt::getSignedMaxValue(width));
  }
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(b, attribute);
}

void registerEmission(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RepriseDialect *) {
    forEachOpWith<ElementwiseOpInterface>([&](auto tag) {
      using OpT = typename decltype(tag)::Op;
      OpT::template attachInterface<Model<OpT>>(*context);
    });
  });
}

} // namespace reprise
