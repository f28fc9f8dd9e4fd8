// reprise: builds the kernel of a loop nest: reductions
#include "NestBuilder.h"

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The kept or the reduced dimensions of a reduction's operand.
static Strided dimsOf(Operation *op, bool reduced) {
  RankedTensorType type = tensor(op->getOperand(0));
  SmallVector<int64_t> dims = cast<ReductionOpInterface>(op).getReducedDims();
  Strided chosen;
  for (auto [d, stride] : llvm::enumerate(rowMajorStrides(type.getShape()))) {
    if (llvm::is_contained(dims, static_cast<int64_t>(d)) != reduced)
      continue;
    chosen.sizes.push_back(type.getDimSize(d));
    chosen.strides.push_back(stride);
  }
  return chosen;
}

NestBuilder::Result NestBuilder::visitReduced(Operation *op, const Affine &kept,
                                              const Affine &reduced) {
  Value operand = op->getOperand(0);
  Strided keptDims = dimsOf(op, false), reducedDims = dimsOf(op, true);
  auto start = follow(kept, keptDims.sizes, keptDims.strides);
  auto step = start ? follow(reduced, reducedDims.sizes, reducedDims.strides) : std::nullopt;
  if (!step)
    return fail(op->getResult(0));
  Result element = visit(operand, *start + *step);
  // A reduction inside that would run once per element had better be over before.
  if (failed(element) && obstacle.misplaced)
    return fail(operand);
  return element;
}

/// Returns the result of a reduction over no elements.
static Attribute emptyResult(Operation *op, ReductionKind kind) {
  Type type = tensor(op->getResult(0)).getElementType();
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (kind == ReductionKind::Product)
      return FloatAttr::get(type, APFloat::getOne(semantics));
    if (kind != ReductionKind::Sum)
      return FloatAttr::get(type, APFloat::getInf(semantics, kind == ReductionKind::Max));
    return FloatAttr::get(type, isa<MeanOp>(op) ? APFloat::getNaN(semantics)
                                                : APFloat::getZero(semantics));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (kind == ReductionKind::Sum || kind == ReductionKind::Product)
    return IntegerAttr::get(type, kind == ReductionKind::Product);
  return IntegerAttr::get(type, kind == ReductionKind::Max ? APInt::getSignedMinValue(width)
                                                           : APInt::getSignedMaxValue(width));
}

NestBuilder::Result NestBuilder::visitReduction(Operation *op, const Affine &position) {
  ReductionInfo info = getReductionInfo(cast<ReductionOpInterface>(op), leaves.rules);
  if (info.reduced == 0)
    return addSplat(tensor(op->getResult(0)).getElementType(), emptyResult(op, info.kind));
  switch (info.mode) {
  case ReductionMode::InRow:
    return visitRow(op, position);
  case ReductionMode::Sequence:
    return visitSequence(op, position);
  case ReductionMode::RowParts:
  case ReductionMode::LaneParts:
    return fail(op->getResult(0));
  }
  llvm_unreachable("unknown mode");
}

/// The number that a sum is divided by; null for other reductions.
static IntegerAttr divisorOf(Operation *op) {
  int64_t count = getReductionInfo(cast<ReductionOpInterface>(op), {}).reduced;
  return isa<MeanOp>(op) ? Builder(op->getContext()).getI64IntegerAttr(count) : IntegerAttr();
}

static Fold foldOf(Operation *op) {
  return foldOf(cast<ReductionOpInterface>(op).getReductionKind());
}

/// True if the position is a row's and differs from row to row.
bool NestBuilder::isRowIndex(const Affine &position) const {
  if (levelOf(position) > Level::Row)
    return false;
  for (size_t i = 0; i < nest.shape.firstColumn(); ++i)
    if (symbolSizes[i] != 1 && !position.coefficient(i))
      return false;
  return true;
}

NestBuilder::Result NestBuilder::visitRow(Operation *op, const Affine &position) {
  Value result = op->getResult(0);
  ReductionInfo info = getReductionInfo(cast<ReductionOpInterface>(op), leaves.rules);
  const Shape &shape = nest.shape;
  if (shape.columnCount() != info.reduced || shape.outerSize() * shape.rowCount() != info.kept ||
      !isRowIndex(position))
    return fail(result, levelOf(position) > Level::Row);
  Affine columns;
  for (auto [i, stride] : llvm::enumerate(rowMajorStrides(shape.columns)))
    if (shape.columns[i] != 1)
      columns = columns + Affine::symbol(shape.firstColumn() + i) * stride;
  Result operand = visitReduced(op, position, columns);
  if (failed(operand))
    return failure();
  return insert(ReduceOp::create(b, location, foldOf(op), *operand, divisorOf(op)));
}

NestBuilder::Result NestBuilder::visitSequence(Operation *op, const Affine &position) {
  Value operand = op->getOperand(0);
  Strided keptDims = dimsOf(op, false), reducedDims = dimsOf(op, true);
  auto start = follow(position, keptDims.sizes, keptDims.strides);
  if (!start)
    return fail(op->getResult(0));
  auto steps = std::make_unique<Block>();
  for (auto [size, stride] : llvm::zip_equal(reducedDims.sizes, reducedDims.strides)) {
    Value step = steps->addArgument(b.getIndexType(), location);
    nest.addIndex(step, {});
    *start = *start + addSymbol({size, step}) * stride;
  }
  open.push_back(steps.get());
  Result element = visit(operand, *start);
  open.pop_back();
  if (failed(element))
    return fail(obstacle.misplaced ? operand : obstacle.cut);
  steps->push_back(YieldOp::create(b, location, *element));
  auto sequence = SequenceOp::create(b, location, element->getType(), foldOf(op), reducedDims.sizes,
                                     divisorOf(op));
  sequence.getBody().push_back(steps.release());
  return insert(sequence);
}

NestBuilder::Result NestBuilder::visitParts(Value value, const Affine &at) {
  // The parts meet in place, so every element must be asked for just once.
  if (at != position())
    return fail(value);
  Leaves::Parts parts = leaves.parts.lookup(value);
  Operation *op = value.getDefiningOp();
  Place place = placeOf(at);
  return insert(MeetOp::create(b, location, elementOf(tensor(value).getElementType()), foldOf(op),
                               bufferOf(parts.slot), place.indices(), place.coefficients(),
                               parts.count, tensor(value).getNumElements(), divisorOf(op)));
}

} // namespace reprise::nests
