// reprise: reductions and contractions: types, folds, work.
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;
using namespace reprise;

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult reprise::inferReducedType(std::optional<Location> location, Type operand,
                                        ArrayRef<int64_t> dims, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<RankedTensorType>(operand);
  if (!type || !type.hasStaticShape())
    return emitOptionalError(location, "expected a statically shaped tensor");
  SmallVector<int64_t> shape;
  size_t next = 0;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (next < dims.size() && dims[next] == d)
      ++next;
    else
      shape.push_back(type.getDimSize(d));
  }
  if (next != dims.size() || dims.empty())
    return emitOptionalError(location, "expected ascending dimensions of ", type, " to reduce");
  results.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult ArgmaxOp::verify() {
  auto type = tensor(getOperand());
  int64_t dim = getDim();
  if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) == 0)
    return emitOpError("expected a non-empty dimension of the operand, got ") << dim;
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  shape.erase(shape.begin() + dim);
  if (getType().getShape() != ArrayRef(shape))
    return emitOpError("expected a result without dimension ") << dim;
  return success();
}

//===-- logsumexp, cumsum, top_k --------------------------------------------------------------===//

SmallVector<Value> LogSumExpOp::decompose(ImplicitLocOpBuilder &b, ValueRange operands) {
  Value max = MaxOp::create(b, operands[0], getDims());
  auto splat = [&](double value) -> Value {
    auto type = cast<RankedTensorType>(max.getType());
    return ConstantOp::create(
        b, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value)));
  };
  // exp(x - inf) would be NaN where x is infinite.
  Value isInfinite = CompareOp::create(b, ComparePredicate::eq, AbsOp::create(b, max),
                                       splat(std::numeric_limits<double>::infinity()));
  Value shift = SelectOp::create(b, max.getType(), isInfinite, splat(0), max);
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < tensor(operands[0]).getRank(); ++d)
    if (!llvm::is_contained(getDims(), d))
      kept.push_back(d);
  Value spread = BroadcastOp::create(b, operands[0].getType(), shift, kept);
  Value sum = SumOp::create(b, ExpOp::create(b, SubOp::create(b, operands[0], spread)), getDims());
  return {AddOp::create(b, LogOp::create(b, sum), shift)};
}

LogicalResult CumsumOp::verify() {
  int64_t dim = getDim();
  if (dim < 0 || dim >= tensor(getOperand()).getRank())
    return emitOpError("expected a dimension of the operand, got ") << dim;
  return success();
}

LogicalResult TopKOp::verify() {
  auto type = tensor(getOperand()), values = tensor(getValues());
  if (type.getRank() == 0 || values.getRank() != type.getRank() ||
      values.getElementType() != type.getElementType() ||
      values.getShape().drop_back() != type.getShape().drop_back() ||
      tensor(getIndices()).getShape() != values.getShape())
    return emitOpError("expected values and indices [rows…, k] of an operand [rows…, n] but got ")
           << values << " and " << getIndices().getType();
  int64_t k = values.getShape().back(), n = type.getShape().back();
  if (k < 1 || k > n)
    return emitOpError("expected between 1 and ") << n << " elements, got " << k;
  return success();
}

//===-- dot_general ---------------------------------------------------------------------------===//

static SmallVector<int64_t> freeDims(RankedTensorType type, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
      free.push_back(d);
  return free;
}

SmallVector<int64_t> DotGeneralOp::getLhsFree() {
  return freeDims(tensor(getLhs()), getLhsBatch(), getLhsContracting());
}
SmallVector<int64_t> DotGeneralOp::getRhsFree() {
  return freeDims(tensor(getRhs()), getRhsBatch(), getRhsContracting());
}

int64_t DotGeneralOp::getContractedSize() {
  int64_t size = 1;
  for (int64_t dim : getLhsContracting())
    size *= tensor(getLhs()).getDimSize(dim);
  return size;
}

bool DotGeneralOp::hasBatchDims() { return !getLhsBatch().empty(); }
int64_t DotGeneralOp::getFlops() {
  return 2 * getContractedSize() * tensor(getResult()).getNumElements();
}

static SmallVector<int64_t> dotShape(RankedTensorType lhs, RankedTensorType rhs,
                                     ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                                     ArrayRef<int64_t> lhsContracting,
                                     ArrayRef<int64_t> rhsContracting) {
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(lhs, lhsBatch, lhsContracting))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : freeDims(rhs, rhsBatch, rhsContracting))
    shape.push_back(rhs.getDimSize(dim));
  return shape;
}

void DotGeneralOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                         ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                         ArrayRef<int64_t> lhsContracting, ArrayRef<int64_t> rhsContracting,
                         Type elementType) {
  auto type = RankedTensorType::get(
      dotShape(tensor(lhs), tensor(rhs), lhsBatch, rhsBatch, lhsContracting, rhsContracting),
      elementType);
  build(builder, state, type, lhs, rhs, builder.getDenseI64ArrayAttr(lhsBatch),
        builder.getDenseI64ArrayAttr(rhsBatch), builder.getDenseI64ArrayAttr(lhsContracting),
        builder.getDenseI64ArrayAttr(rhsContracting), TypeAttr(), builder.getI64IntegerAttr(0));
}

/// Dimensions in range, none listed twice.
static bool areDistinctDims(RankedTensorType type, ArrayRef<int64_t> first,
                            ArrayRef<int64_t> second) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : llvm::concat<const int64_t>(first, second))
    if (dim < 0 || dim >= type.getRank() || !seen.insert(dim).second)
      return false;
  return true;
}

LogicalResult DotGeneralOp::verify() {
  auto lhs = tensor(getLhs()), rhs = tensor(getRhs());
  if (!areDistinctDims(lhs, getLhsBatch(), getLhsContracting()) ||
      !areDistinctDims(rhs, getRhsBatch(), getRhsContracting()))
    return emitOpError("expected distinct dimensions of the operands");
  auto pairs = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [&](auto pair) {
             return lhs.getDimSize(std::get<0>(pair)) == rhs.getDimSize(std::get<1>(pair));
           });
  };
  if (!pairs(getLhsBatch(), getRhsBatch()) || !pairs(getLhsContracting(), getRhsContracting()))
    return emitOpError("expected paired dimensions of equal size");
  Type element = lhs.getElementType(), compute = getComputeType(element);
  if (rhs.getElementType() != element)
    return emitOpError("expected operands of one element type");
  if (getType().getElementType() != element && getType().getElementType() != compute)
    return emitOpError("expected a result of ") << element << " or " << compute;
  if (getAccumulation() && *getAccumulation() != compute)
    return emitOpError("expected accumulation in ") << compute;
  auto shape =
      dotShape(lhs, rhs, getLhsBatch(), getRhsBatch(), getLhsContracting(), getRhsContracting());
  if (getType().getShape() != ArrayRef(shape))
    return emitOpError("expected a result of type ")
           << RankedTensorType::get(shape, getType().getElementType());
  return success();
}

/// The operand's dimensions before its transpose.
static DenseI64ArrayAttr mapDims(OpBuilder &builder, ArrayRef<int64_t> dims,
                                 ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> mapped;
  for (int64_t dim : dims)
    mapped.push_back(permutation[dim]);
  return builder.getDenseI64ArrayAttr(mapped);
}

/// Folds a transposed operand into the dimension numbers, if the free dimensions keep their order.
static LogicalResult foldTranspose(DotGeneralOp op, PatternRewriter &rewriter, bool isLhs) {
  auto transpose = (isLhs ? op.getLhs() : op.getRhs()).getDefiningOp<TransposeOp>();
  if (!transpose || transpose.getReplay() || op.getReplay())
    return failure();
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  auto free = mapDims(rewriter, isLhs ? op.getLhsFree() : op.getRhsFree(), permutation);
  if (!llvm::is_sorted(free.asArrayRef()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    if (isLhs) {
      op.setLhsBatchAttr(mapDims(rewriter, op.getLhsBatch(), permutation));
      op.setLhsContractingAttr(mapDims(rewriter, op.getLhsContracting(), permutation));
      op.getLhsMutable().assign(transpose.getOperand());
    } else {
      op.setRhsBatchAttr(mapDims(rewriter, op.getRhsBatch(), permutation));
      op.setRhsContractingAttr(mapDims(rewriter, op.getRhsContracting(), permutation));
      op.getRhsMutable().assign(transpose.getOperand());
    }
  });
  return success();
}

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(+[](DotGeneralOp op, PatternRewriter &rewriter) {
    return foldTranspose(op, rewriter, true);
  });
  patterns.add(+[](DotGeneralOp op, PatternRewriter &rewriter) {
    return foldTranspose(op, rewriter, false);
  });
}
