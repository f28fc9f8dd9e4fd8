// reprise: common code of the handlers of StableHLO's ops
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
Type elementOf(Value value) { return typeOf(value).getElementType(); }
bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

Value splatInteger(Builder &b, RankedTensorType type, int64_t number) {
  APInt bits(type.getElementTypeBitWidth(), number, true, true);
  return ConstantOp::create(b, DenseElementsAttr::get(type, bits));
}

Value splat(Builder &b, RankedTensorType type, double number) {
  if (!isa<FloatType>(type.getElementType()))
    return splatInteger(b, type, static_cast<int64_t>(number));
  return ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), number)));
}

Value reshape(Builder &b, Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ReshapeOp::create(b, typeOf(value).clone(shape), value);
}

Value transpose(Builder &b, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  Integers shape;
  for (int64_t d : permutation)
    shape.push_back(typeOf(value).getDimSize(d));
  return TransposeOp::create(b, typeOf(value).clone(shape), value, permutation);
}

Value convertTo(Builder &b, Value value, Type element) {
  if (elementOf(value) == element)
    return value;
  return CastOp::create(b, typeOf(value).clone(element), value);
}

/// `dims` need not ascend, and dimensions of size 1 repeat.
Value broadcast(Builder &b, Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Integers order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t x, int64_t y) { return dims[x] < dims[y]; });
  value = transpose(b, value, order);
  Integers kept, sizes;
  for (auto [d, from] : llvm::enumerate(order))
    if (typeOf(value).getDimSize(d) == shape[dims[from]]) {
      kept.push_back(dims[from]);
      sizes.push_back(shape[dims[from]]);
    }
  value = reshape(b, value, sizes);
  if (sizes.size() == shape.size())
    return value;
  return BroadcastOp::create(b, typeOf(value).clone(shape), value, kept);
}

Value compare(Builder &b, ComparePredicate predicate, Value x, Value y) {
  return CompareOp::create(b, typeOf(x).clone(b.getI1Type()), predicate, x, y);
}

Value select(Builder &b, Value condition, Value yes, Value no) {
  return SelectOp::create(b, yes.getType(), condition, yes, no);
}

Value maximum(Builder &b, Value x, Value y) { return MaximumOp::create(b, x.getType(), x, y); }
Value minimum(Builder &b, Value x, Value y) { return MinimumOp::create(b, x.getType(), x, y); }

Value countFrom(Builder &b, int64_t size, Type element) {
  return IotaOp::create(b, RankedTensorType::get({size}, element), 0);
}

/// Returns the value without a derivative: `bitcast` has none, and two bitcasts change no bits.
Value stopGradient(Builder &b, Value x) {
  Type element = elementOf(x);
  if (!isFloat(x))
    return x;
  bool isWide = element.isF64();
  Value whole = isWide ? x : convertTo(b, x, b.getF32Type());
  Type bits = isWide ? b.getI64Type() : b.getI32Type();
  Value word = BitcastOp::create(b, typeOf(whole).clone(bits), whole);
  return convertTo(b, BitcastOp::create(b, whole.getType(), word), element);
}

//===-- Constants -----------------------------------------------------------------------------===//

/// Cache of known constants, so that a value with several readers is evaluated once.
using Known = llvm::DenseMap<Value, std::optional<int64_t>>;

static std::optional<int64_t> constantInteger(Value value, Known &known);

static std::optional<int64_t> fold(Operation *op, Type element, Known &known) {
  SmallVector<int64_t> x;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = constantInteger(operand, known);
    if (!number)
      return std::nullopt;
    x.push_back(*number);
  }
  auto wrap = [&](int64_t number) {
    unsigned width = element.getIntOrFloatBitWidth();
    return width == 1 ? number & 1 : APInt(width, number, true, true).getSExtValue();
  };
  if (isa<ReshapeOp, BroadcastOp, SliceOp>(op))
    return x[0];
  if (isa<CastOp>(op))
    return element.isInteger(1) ? x[0] != 0 : wrap(x[0]);
  if (isa<AddOp>(op))
    return wrap(static_cast<uint64_t>(x[0]) + static_cast<uint64_t>(x[1]));
  if (isa<SubOp>(op))
    return wrap(static_cast<uint64_t>(x[0]) - static_cast<uint64_t>(x[1]));
  if (isa<MulOp>(op))
    return wrap(static_cast<uint64_t>(x[0]) * static_cast<uint64_t>(x[1]));
  if (isa<XorOp>(op))
    return wrap(x[0] ^ x[1]);
  if (isa<MaximumOp>(op))
    return std::max(x[0], x[1]);
  if (isa<MinimumOp>(op))
    return std::min(x[0], x[1]);
  if (isa<SelectOp>(op))
    return x[0] ? x[1] : x[2];
  if (auto compare = dyn_cast<CompareOp>(op)) {
    bool holds[] = {x[0] == x[1], x[0] != x[1], x[0]<x[1], x[0] <= x[1], x[0]> x[1], x[0] >= x[1]};
    return holds[static_cast<int>(compare.getPredicate())];
  }
  return std::nullopt;
}

static std::optional<int64_t> constantInteger(Value value, Known &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op || isFloat(value))
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return std::nullopt;
    APInt number = dense.getSplatValue<APInt>();
    return number.getBitWidth() == 1 ? number.getZExtValue() : number.getSExtValue();
  }
  if (llvm::any_of(op->getOperands(), isFloat))
    return std::nullopt;
  std::optional<int64_t> number = fold(op, elementOf(value), known);
  known[value] = number;
  return number;
}

std::optional<int64_t> constantInteger(Value value) {
  Known known;
  return constantInteger(value, known);
}

std::optional<APFloat> constantFloat(Value value) {
  while (isa_and_nonnull<ReshapeOp, BroadcastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto type = dyn_cast<FloatType>(elementOf(value));
  if (auto converted = value.getDefiningOp<CastOp>(); converted && type) {
    std::optional<int64_t> number = constantInteger(converted.getOperand());
    APFloat result(type.getFloatSemantics());
    if (!number)
      return std::nullopt;
    result.convertFromAPInt(APInt(64, *number, true), true, APFloat::rmNearestTiesToEven);
    return result;
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<APFloat>();
}

//===-- Combiners -----------------------------------------------------------------------------===//

std::string combinerOf(Operation *op) {
  if (auto applied = op->getAttrOfType<StringAttr>("applies"))
    return applied.getValue().split('.').second.str();
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return "";
  Block &block = op->getRegion(0).front();
  Operation *terminator = block.getTerminator();
  if (block.getNumArguments() != 2 || terminator->getNumOperands() != 1)
    return "";
  if (terminator->getOperand(0) == block.getArgument(1))
    return "second";
  Operation *inner = &block.front();
  if (inner == terminator)
    return "";
  bool isOne = inner->getNextNode() == terminator && inner->getNumOperands() == 2 &&
               inner->getNumResults() == 1 && terminator->getOperand(0) == inner->getResult(0) &&
               inner->getOperand(0) != inner->getOperand(1) &&
               llvm::all_of(inner->getOperands(), [](Value x) { return isa<BlockArgument>(x); });
  return isOne ? inner->getName().getStringRef().split('.').second.str() : "";
}

Value combine(Builder &b, StringRef combiner, Value x, Value y) {
  bool isBool = elementOf(x).isInteger(1);
  if (combiner == "or" || (isBool && (combiner == "add" || combiner == "maximum")))
    return OrOp::create(b, x.getType(), x, y);
  if (combiner == "and" || (isBool && (combiner == "multiply" || combiner == "minimum")))
    return AndOp::create(b, x.getType(), x, y);
  if (combiner == "add")
    return AddOp::create(b, x.getType(), x, y);
  if (combiner == "multiply")
    return MulOp::create(b, x.getType(), x, y);
  if (combiner == "maximum")
    return maximum(b, x, y);
  if (combiner == "minimum")
    return minimum(b, x, y);
  return {};
}

bool isIdentity(StringRef combiner, Value init) {
  if (std::optional<APFloat> number = constantFloat(init)) {
    if (combiner == "add")
      return number->isZero();
    if (combiner == "multiply")
      return number->isExactlyValue(1);
    return number->isInfinity() && number->isNegative() == (combiner == "maximum");
  }
  std::optional<int64_t> number = constantInteger(init);
  if (!number)
    return false;
  unsigned width = elementOf(init).getIntOrFloatBitWidth();
  if (width == 1)
    return *number == (combiner == "and" || combiner == "multiply" || combiner == "minimum");
  if (combiner == "add" || combiner == "or")
    return *number == 0;
  if (combiner == "multiply")
    return *number == 1;
  if (combiner == "and")
    return *number == -1;
  APInt bound =
      combiner == "maximum" ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return *number == bound.getSExtValue();
}

} // namespace reprise::stablehlo
