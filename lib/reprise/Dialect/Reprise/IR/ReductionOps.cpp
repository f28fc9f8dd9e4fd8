// reprise: reductions and contractions: types, folds, work.
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
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
  // exp(x - inf) would be NaN for infinite x.
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

template <typename OpT> static SmallVector<int64_t> lhsFreeOf(OpT op) {
  return freeDims(tensor(op.getLhs()), op.getLhsBatch(), op.getLhsContracting());
}
template <typename OpT> static SmallVector<int64_t> rhsFreeOf(OpT op) {
  return freeDims(tensor(op.getRhs()), op.getRhsBatch(), op.getRhsContracting());
}
template <typename OpT> static int64_t contractedSizeOf(OpT op) {
  int64_t size = 1;
  for (int64_t dim : op.getLhsContracting())
    size *= tensor(op.getLhs()).getDimSize(dim);
  return size;
}

SmallVector<int64_t> DotGeneralOp::getLhsFree() { return lhsFreeOf(*this); }
SmallVector<int64_t> DotGeneralOp::getRhsFree() { return rhsFreeOf(*this); }
int64_t DotGeneralOp::getContractedSize() { return contractedSizeOf(*this); }
bool DotGeneralOp::hasBatchDims() { return !getLhsBatch().empty(); }
int64_t DotGeneralOp::getFlops() {
  return 2 * getContractedSize() * tensor(getResult()).getNumElements();
}

SmallVector<int64_t> DotBiasOp::getLhsFree() { return lhsFreeOf(*this); }
SmallVector<int64_t> DotBiasOp::getRhsFree() { return rhsFreeOf(*this); }
int64_t DotBiasOp::getContractedSize() { return contractedSizeOf(*this); }
bool DotBiasOp::hasBatchDims() { return !getLhsBatch().empty(); }
int64_t DotBiasOp::getFlops() {
  return (2 * getContractedSize() + 1) * tensor(getResult()).getNumElements();
}

SmallVector<int64_t> DotAccumulateOp::getLhsFree() { return lhsFreeOf(*this); }
SmallVector<int64_t> DotAccumulateOp::getRhsFree() { return rhsFreeOf(*this); }
int64_t DotAccumulateOp::getContractedSize() { return contractedSizeOf(*this); }
bool DotAccumulateOp::hasBatchDims() { return !getLhsBatch().empty(); }
int64_t DotAccumulateOp::getFlops() {
  return 2 * getContractedSize() * tensor(getResult()).getNumElements();
}

SmallVector<int64_t> DotLanesOp::getLhsFree() { return lhsFreeOf(*this); }
SmallVector<int64_t> DotLanesOp::getRhsFree() { return rhsFreeOf(*this); }
int64_t DotLanesOp::getContractedSize() { return contractedSizeOf(*this); }
bool DotLanesOp::hasBatchDims() { return !getLhsBatch().empty(); }
int64_t DotLanesOp::getFlops() {
  int64_t adds = static_cast<int64_t>(getLanes()) - 1;
  return (2 * getContractedSize() + adds) * tensor(getResult()).getNumElements();
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

/// Returns whether dimensions are in range and listed once.
static bool areDistinctDims(RankedTensorType type, ArrayRef<int64_t> first,
                            ArrayRef<int64_t> second) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : llvm::concat<const int64_t>(first, second))
    if (dim < 0 || dim >= type.getRank() || !seen.insert(dim).second)
      return false;
  return true;
}

template <typename OpT> static LogicalResult verifyDot(OpT op) {
  auto lhs = tensor(op.getLhs()), rhs = tensor(op.getRhs());
  if (!areDistinctDims(lhs, op.getLhsBatch(), op.getLhsContracting()) ||
      !areDistinctDims(rhs, op.getRhsBatch(), op.getRhsContracting()))
    return op.emitOpError("expected distinct dimensions of the operands");
  auto pairs = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    return left.size() == right.size() && llvm::all_of(llvm::zip(left, right), [&](auto pair) {
             return lhs.getDimSize(std::get<0>(pair)) == rhs.getDimSize(std::get<1>(pair));
           });
  };
  if (!pairs(op.getLhsBatch(), op.getRhsBatch()) ||
      !pairs(op.getLhsContracting(), op.getRhsContracting()))
    return op.emitOpError("expected paired dimensions of equal size");
  Type element = lhs.getElementType(), compute = getComputeType(element);
  if (rhs.getElementType() != element)
    return op.emitOpError("expected operands of one element type");
  if (op.getType().getElementType() != element && op.getType().getElementType() != compute)
    return op.emitOpError("expected a result of ") << element << " or " << compute;
  if (op.getAccumulation() && *op.getAccumulation() != compute)
    return op.emitOpError("expected accumulation in ") << compute;
  auto shape = dotShape(lhs, rhs, op.getLhsBatch(), op.getRhsBatch(), op.getLhsContracting(),
                        op.getRhsContracting());
  if (op.getType().getShape() != ArrayRef(shape))
    return op.emitOpError("expected a result of type ")
           << RankedTensorType::get(shape, op.getType().getElementType());
  return success();
}

LogicalResult DotGeneralOp::verify() { return verifyDot(*this); }

LogicalResult DotBiasOp::verify() {
  if (failed(verifyDot(*this)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : getRhsFree())
    shape.push_back(tensor(getRhs()).getDimSize(dim));
  auto expected = RankedTensorType::get(shape, getType().getElementType());
  if (getBias().getType() != expected)
    return emitOpError("expected a bias of type ") << expected;
  return success();
}

LogicalResult DotAccumulateOp::verify() {
  static constexpr int64_t mostTerms = 4096; // one chain
  if (failed(verifyDot(*this)))
    return failure();
  Type compute = getComputeType(tensor(getLhs()).getElementType());
  if (getType().getElementType() != compute)
    return emitOpError("expected a result of ") << compute;
  if (getSums().getType() != getType())
    return emitOpError("expected sums of type ") << getType();
  if (getContractedSize() > mostTerms)
    return emitOpError("expected at most ") << mostTerms << " terms, got " << getContractedSize();
  return success();
}

LogicalResult DotLanesOp::verify() {
  if (failed(verifyDot(*this)))
    return failure();
  uint64_t lanes = getLanes(), along = getAlong();
  if (!llvm::isPowerOf2_64(lanes))
    return emitOpError("expected 2, 4, 8, … lanes, got ") << lanes;
  if (along >= getLhsContracting().size())
    return emitOpError("expected lanes along one of ")
           << getLhsContracting().size() << " contracted dimensions, got number " << along;
  int64_t size = tensor(getLhs()).getDimSize(getLhsCut());
  if (size == 0 || size % static_cast<int64_t>(lanes) != 0)
    return emitOpError("expected lanes of equal size, got ")
           << lanes << " of dimension " << getLhsCut() << ", which has " << size << " terms";
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
template <typename OpT>
static LogicalResult foldTranspose(OpT op, PatternRewriter &rewriter, bool isLhs) {
  Value operand = isLhs ? op.getLhs() : op.getRhs();
  auto transpose = operand.getDefiningOp<TransposeOp>();
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

template <typename OpT> static void addTransposes(RewritePatternSet &patterns) {
  patterns.add(
      +[](OpT op, PatternRewriter &rewriter) { return foldTranspose(op, rewriter, true); });
  patterns.add(
      +[](OpT op, PatternRewriter &rewriter) { return foldTranspose(op, rewriter, false); });
}

void DotGeneralOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  addTransposes<DotGeneralOp>(patterns);
}
void DotBiasOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  addTransposes<DotBiasOp>(patterns);
}

void DotAccumulateOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  addTransposes<DotAccumulateOp>(patterns);
}

void DotLanesOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  addTransposes<DotLanesOp>(patterns);
}

//===-- dot_bias ------------------------------------------------------------------------------===//

DotGeneralOp DotBiasOp::buildDot(ImplicitLocOpBuilder &b) {
  return DotGeneralOp::create(b, getType(), getLhs(), getRhs(), getLhsBatchAttr(),
                              getRhsBatchAttr(), getLhsContractingAttr(), getRhsContractingAttr(),
                              getAccumulationAttr(), getReplayAttr());
}

AddOp DotBiasOp::buildSum(ImplicitLocOpBuilder &b, Value dot, Value bias) {
  int64_t rank = tensor(dot).getRank();
  auto columns = llvm::to_vector(llvm::seq(rank - tensor(bias).getRank(), rank));
  return AddOp::create(b, dot, BroadcastOp::create(b, dot.getType(), bias, columns));
}

void DotBiasOp::expand() {
  ImplicitLocOpBuilder b(getLoc(), *this);
  DotGeneralOp dot = buildDot(b);
  AddOp sum = buildSum(b, dot, getBias());
  for (Operation *made = dot; made != getOperation(); made = made->getNextNode()) {
    made->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
    setReplayNumber(made, getReplayNumber(*this));
  }
  // A label is of the result.
  dot->removeDiscardableAttr(kLabelAttr);
  replaceAllUsesWith(sum.getResult());
  erase();
}
