// reprise: the language of derivative rules; their registration.
#include "Pullback.h"

#include "reprise/Dialect/Reprise/Derivatives.h"
#include "reprise/Dialect/Reprise/IR/OpList.h"

using namespace mlir;
using namespace reprise;

bool Pullback::wantsWide(unsigned i, Value operand) const {
  return wants(i) && wanted[i].getElementType() != tensorTypeOf(operand).getElementType();
}

void Pullback::give(unsigned i, Value cotangent) {
  if (cotangent && wants(i))
    given[i] = convert(cotangent, wanted[i].getElementType());
}

Value Pullback::convert(Value x, Type elementType) {
  if (tensorTypeOf(x).getElementType() == elementType)
    return x;
  return CastOp::create(b, tensorTypeOf(x).clone(elementType), x);
}

Value Pullback::splat(Type type, double value) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  TypedAttr attribute = isa<FloatType>(element)
                            ? TypedAttr(b.getFloatAttr(element, value))
                            : b.getIntegerAttr(element, static_cast<int64_t>(value));
  return ConstantOp::create(b, DenseElementsAttr::get(tensor, attribute));
}

Value Pullback::broadcast(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  auto type = RankedTensorType::get(shape, tensorTypeOf(x).getElementType());
  return type == x.getType() ? x : Value(BroadcastOp::create(b, type, x, dims));
}

Value Pullback::spread(Value x, ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d);
  return broadcast(x, shape, kept);
}

Value Pullback::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = tensorTypeOf(x).clone(shape);
  return type == x.getType() ? x : Value(ReshapeOp::create(b, type, x));
}

Value Pullback::transpose(Value x, ArrayRef<int64_t> permutation) {
  return llvm::is_sorted(permutation) ? x : Value(TransposeOp::create(b, x, permutation));
}

Value reprise::isAt(Pullback &p, Value index, ArrayRef<int64_t> shape, int64_t dim) {
  auto type = RankedTensorType::get(shape, tensorTypeOf(index).getElementType());
  return p.compare(ComparePredicate::eq, IotaOp::create(p.b, type, dim),
                   p.spread(index, shape, dim));
}

namespace {

/// Ops without a derivative: they are expanded before, or their results depend on no float.
using Constant =
    OpList<AndOp, ArgmaxOp, BitcastOp, CompareOp, ConstantOp, DotBiasOp, FloorOp, IotaOp, NotOp,
           OneHotOp, OrOp, RandomBernoulliOp, RandomNormalOp, RandomUniformIntOp, RandomUniformOp,
           RemOp, ShiftLeftOp, ShiftRightOp, XorOp>;
template <typename OpT>
struct DerivativeRule : DifferentiableOpInterface::ExternalModel<DerivativeRule<OpT>, OpT> {
  void buildPullback(Operation *op, ImplicitLocOpBuilder &b, ValueRange cotangents,
                     ArrayRef<RankedTensorType> wanted, MutableArrayRef<Value> given) const {
    Pullback pullback(b, cotangents, wanted, given);
    differentiate(cast<OpT>(op), pullback);
  }
};

} // namespace

void reprise::registerDerivatives(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RepriseDialect *) {
    forEachOp([&](auto tag) {
      using OpT = typename decltype(tag)::Op;
      if constexpr (!isIn<OpT>(Constant()) && !isIn<OpT>(StructureOps()))
        OpT::template attachInterface<DerivativeRule<OpT>>(*context);
    });
  });
}
