// reprise: reductions and orders of StableHLO
#include "Importer.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// On booleans "and" is the least of 0 and 1, "or" the greatest.
Value reduceBooleans(Builder &b, StringRef combiner, Value x, ArrayRef<int64_t> dims) {
  bool isAnd = combiner == "and" || combiner == "multiply" || combiner == "minimum";
  Value numbers = convertTo(b, x, b.getI32Type());
  Value result = isAnd ? MinOp::create(b, numbers, dims).getResult()
                       : MaxOp::create(b, numbers, dims).getResult();
  return convertTo(b, result, b.getI1Type());
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

/// The direction of the first comparison of the values tells the largest from the least; what
/// follows it in the region decides ties and NaNs as argmax does.
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
  Value x = s.operands[0];
  Value index =
      ArgmaxOp::create(b, s.type(1), isLargest ? x : NegOp::create(b, x).getResult(), dim);
  Value best =
      isLargest ? MaxOp::create(b, x, dim).getResult() : MinOp::create(b, x, dim).getResult();
  return {best, index};
}

Values importReduce(Source &s) {
  Integers dims = s.integers("dimensions");
  llvm::sort(dims);
  if (!Source::areDims(dims, s.operandType(0).getRank()))
    return s.refuse("has dimensions that are not there");
  if (s.operands.size() == 4 && dims.size() == 1)
    return importArgmax(s, dims[0]);
  std::string combiner = combinerOf(s.op);
  if (s.operands.size() != 2 || combiner.empty())
    return s.refuse("by a function that is not one op");
  bool isOrdered = combiner == "maximum" || combiner == "minimum";
  if (s.isUnsigned(0) && isOrdered)
    return s.refuse("to the largest or least of unsigned integers");
  Value x = s.operands[0];
  if (!dims.empty())
    x = reduce(s.b(), combiner, x, dims);
  if (!x)
    return s.refuse("by '" + combiner + "'");
  if (isIdentity(combiner, s.operands[1]))
    return {x};
  Value init = broadcast(s.b(), s.operands[1], s.type().getShape(), {});
  return {combine(s.b(), combiner, init, x)};
}

Values importTopK(Source &s) {
  if (s.op->getNumResults() != 2)
    return s.refuse("has a form that is not known");
  auto order = TopKOp::create(s.b(), s.type(0), s.type(1), s.operands[0]);
  return {order.getValues(), order.getIndices()};
}

/// Of floats and signed integers, by their own order: the k = n largest, of the negated for an
/// ascending order. Operands behind the first one follow it.
Values importSort(Source &s) {
  Builder &b = s.b();
  Block &block = s.op->getRegion(0).front();
  Value keys = s.operands[0];
  Operation *end = block.getTerminator();
  Operation *result = end->getNumOperands() ? end->getOperand(0).getDefiningOp() : nullptr;
  auto direction = result ? result->getAttrOfType<StringAttr>("comparison_direction") : nullptr;
  int64_t rank = typeOf(keys).getRank(), dim = s.integer("dimension", rank - 1);
  auto hasShape = [&](Value x) { return typeOf(x).getShape() == typeOf(keys).getShape(); };
  if (!Source::areDims(dim, rank) || !llvm::all_of(s.operands, hasShape))
    return s.refuse("has dimensions that are not there");
  if (!direction || s.isUnsigned(0) || elementOf(keys).isInteger(1))
    return s.refuse("in an order that is not that of numbers");
  bool isAscending = direction.getValue().starts_with("L");
  Integers last = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(last[dim], last[rank - 1]);
  Value rows = transpose(b, keys, last);
  Value ordered = isAscending ? NegOp::create(b, rows).getResult() : rows;
  auto order = TopKOp::create(b, rows.getType(), typeOf(rows).clone(b.getI32Type()), ordered);
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
