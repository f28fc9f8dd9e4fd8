// reprise: reductions and orders of StableHLO
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Reduces booleans: "and" is the minimum of 0 and 1, "or" the maximum, "xor" whether the sum is
/// odd.
Value reduceBooleans(Builder &b, StringRef combiner, Value x, ArrayRef<int64_t> dims) {
  Value numbers = convertTo(b, x, b.getI32Type()), result;
  if (combiner == "and" || combiner == "multiply" || combiner == "minimum")
    result = MinOp::create(b, numbers, dims);
  else if (combiner == "or" || combiner == "add" || combiner == "maximum")
    result = MaxOp::create(b, numbers, dims);
  else if (combiner == "xor") {
    Value sum = SumOp::create(b, numbers, dims), one = splatInteger(b, typeOf(sum), 1);
    result = AndOp::create(b, sum.getType(), sum, one);
  }
  return result ? convertTo(b, result, b.getI1Type()) : Value();
}

Value reduce(Builder &b, StringRef combiner, Value x, ArrayRef<int64_t> dims) {
  if (elementOf(x).isInteger(1))
    return reduceBooleans(b, combiner, x, dims);
  if (combiner == "add")
    return SumOp::create(b, x, dims);
  if (combiner == "multiply")
    return ProdOp::create(b, x, dims);
  if (combiner == "maximum")
    return MaxOp::create(b, x, dims);
  if (combiner == "minimum")
    return MinOp::create(b, x, dims);
  return {};
}

/// Returns numbers whose signed order is that of the operand.
Value orderedNumbers(Source &s, unsigned operand) {
  Value x = s.operands[operand];
  if (elementOf(x).isInteger(1))
    return convertTo(s.b(), x, s.b().getI32Type());
  return s.isUnsigned(operand) ? flipSign(s.b(), x) : x;
}

/// Numbers of the opposite order. The least integer has no negative one, but a complement.
Value reverseOrder(Builder &b, Value x) {
  if (isFloat(x))
    return NegOp::create(b, x);
  return XorOp::create(b, x.getType(), x, splatInteger(b, typeOf(x), -1));
}

/// Imports argmax and argmin. The direction of the first comparison of the values distinguishes
/// them; the rest of the region decides ties and NaNs as argmax does.
Values importArgmax(Source &s, int64_t dim) {
  Builder &b = s.b();
  if (s.op->getNumRegions() != 1)
    return s.refuse("of several operands that is no argmax or argmin");
  Block &block = s.op->getRegion(0).front();
  if (s.op->getNumResults() != 2 || block.getNumArguments() != 4)
    return s.refuse("of several operands that is no argmax or argmin");
  auto iota = s.operands[1].getDefiningOp<IotaOp>();
  auto direction = block.front().getAttrOfType<StringAttr>("comparison_direction");
  bool isOfValues = block.front().getNumOperands() == 2 &&
                    block.front().getOperand(0) == block.getArgument(0) &&
                    block.front().getOperand(1) == block.getArgument(2);
  if (!iota || static_cast<int64_t>(iota.getDim()) != dim || !direction || !isOfValues ||
      !direction.getValue().starts_with("G") == !direction.getValue().starts_with("L"))
    return s.refuse("of several operands that is no argmax or argmin");
  bool isLargest = direction.getValue().starts_with("G");
  Value x = orderedNumbers(s, 0);
  Value index = ArgmaxOp::create(b, s.type(1), isLargest ? x : reverseOrder(b, x), dim);
  Value best =
      isLargest ? MaxOp::create(b, x, dim).getResult() : MinOp::create(b, x, dim).getResult();
  if (s.isUnsigned(0))
    best = flipSign(b, best);
  return {convertTo(b, best, s.type().getElementType()), index};
}

Values importReduce(Source &s) {
  Integers dims = s.integers("dimensions");
  llvm::sort(dims);
  if (!Source::areDims(dims, s.operandType(0).getRank()))
    return s.refuse("has dimensions out of range");
  if (s.operands.size() == 4 && dims.size() == 1)
    return importArgmax(s, dims[0]);
  std::string combiner = combinerOf(s.op);
  if (s.operands.size() != 2 || combiner.empty())
    return s.refuse("by a function that is not one op");
  bool isOrdered = combiner == "maximum" || combiner == "minimum";
  bool flips = s.isUnsigned(0) && isOrdered;
  Value x = flips ? flipSign(s.b(), s.operands[0]) : s.operands[0];
  Value init = flips ? flipSign(s.b(), s.operands[1]) : s.operands[1];
  if (!dims.empty())
    x = reduce(s.b(), combiner, x, dims);
  if (!x)
    return s.refuse("by '" + combiner + "'");
  if (!isIdentity(combiner, init))
    x = combine(s.b(), combiner, broadcast(s.b(), init, s.type().getShape(), {}), x);
  return {flips ? flipSign(s.b(), x) : x};
}

Values importTopK(Source &s) {
  if (s.op->getNumResults() != 2)
    return s.refuse("has an unknown form");
  Value x = orderedNumbers(s, 0);
  auto values = RankedTensorType::get(s.type(0).getShape(), elementOf(x));
  auto order = TopKOp::create(s.b(), values, s.type(1), x);
  Value largest = s.isUnsigned(0) ? flipSign(s.b(), order.getValues()) : order.getValues();
  return {convertTo(s.b(), largest, s.type(0).getElementType()), order.getIndices()};
}

/// Returns integers in the order of a sort: both zeros are equal, a NaN is behind all numbers.
Value sortKeys(Builder &b, Value x) {
  if (!isFloat(x))
    return x;
  Value zero = splat(b, typeOf(x), 0);
  Value keys = totalOrder(b, select(b, compare(b, ComparePredicate::eq, x, zero), zero, x));
  Value last = splatInteger(b, typeOf(keys), elementOf(keys).isInteger(64) ? INT64_MAX : INT32_MAX);
  return select(b, compare(b, ComparePredicate::ne, x, x), last, keys);
}

/// Returns the argument of the region that is compared, through JAX's handling of zeros and NaNs;
/// otherwise -1.
int64_t comparedArgument(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber();
  Operation *op = value.getDefiningOp();
  StringRef name = op->getName().getStringRef();
  if (name != "stablehlo.select" && name != "stablehlo.compare")
    return -1;
  int64_t found = -1;
  for (Value operand : op->getOperands()) {
    Operation *inner = operand.getDefiningOp();
    if (inner && inner->getNumOperands() == 0)
      continue;
    int64_t argument = comparedArgument(operand);
    if (argument < 0 || (found >= 0 && found != argument))
      return -1;
    found = argument;
  }
  return found;
}

/// Returns whether the region orders by its first two arguments ascending; none if it orders by
/// others.
std::optional<bool> isAscending(Block &block) {
  Operation *end = block.getTerminator();
  Operation *result = end->getNumOperands() ? end->getOperand(0).getDefiningOp() : nullptr;
  auto direction = result ? result->getAttrOfType<StringAttr>("comparison_direction") : nullptr;
  if (!direction || result->getNumOperands() != 2)
    return std::nullopt;
  int64_t left = comparedArgument(result->getOperand(0)),
          right = comparedArgument(result->getOperand(1));
  bool isLess = direction.getValue() == "LT";
  if ((!isLess && direction.getValue() != "GT") || left + right != 1 || left < 0 || right < 0)
    return std::nullopt;
  return isLess == (left == 0);
}

/// Imports a sort as the k = n largest, with negated keys for an ascending order. Operands behind
/// the first follow it.
Values importSort(Source &s) {
  Builder &b = s.b();
  int64_t rank = s.operandType(0).getRank(), dim = s.integer("dimension", rank - 1);
  auto hasShape = [&](Value x) { return typeOf(x).getShape() == s.operandType(0).getShape(); };
  if (!Source::areDims(dim, rank) || !llvm::all_of(s.operands, hasShape))
    return s.refuse("has dimensions out of range");
  std::optional<bool> ascends = isAscending(s.op->getRegion(0).front());
  if (!ascends)
    return s.refuse("in another order than that of the numbers of the first operand");
  Integers last = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(last[dim], last[rank - 1]);
  Value ordered = transpose(b, orderedNumbers(s, 0), last);
  if (*ascends)
    ordered = reverseOrder(b, sortKeys(b, ordered));
  auto order = TopKOp::create(b, ordered.getType(), typeOf(ordered).clone(b.getI32Type()), ordered);
  Values results;
  for (Value operand : s.operands) {
    Value moved = transpose(b, operand, last);
    Value taken = TakeAlongOp::create(b, moved.getType(), moved, order.getIndices());
    results.push_back(transpose(b, taken, last));
  }
  return results;
}

} // namespace

void addReductions(Handlers &handlers) {
  handlers["stablehlo.reduce"] = {importReduce, Handler::kAny, 1};
  handlers["stablehlo.sort"] = {importSort, Handler::kAny, 1};
  handlers["chlo.top_k"] = {importTopK, 1};
}

} // namespace reprise::stablehlo
