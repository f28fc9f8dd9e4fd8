// reprise: builds the graph of a loop nest: reductions
#include "GraphBuilder.h"

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

GraphBuilder::Result GraphBuilder::visitReduced(Operation *op, const Affine &kept,
                                                const Affine &reduced) {
  Value operand = op->getOperand(0);
  Strided keptDims = dimsOf(op, false), reducedDims = dimsOf(op, true);
  auto start = follow(kept, keptDims.sizes, keptDims.strides);
  auto step = start ? follow(reduced, reducedDims.sizes, reducedDims.strides) : std::nullopt;
  if (!step)
    return fail(op->getResult(0));
  Result node = visit(operand, *start + *step);
  // A reduction inside that would run once per element had better be over before.
  if (failed(node) && obstacle.misplaced)
    return fail(operand);
  return node;
}

/// What a reduction of nothing gives.
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

GraphBuilder::Result GraphBuilder::visitReduction(Operation *op, const Affine &position) {
  ReductionInfo info = getReductionInfo(cast<ReductionOpInterface>(op), leaves.rules);
  if (info.reduced == 0)
    return addSplat(graph, tensor(op->getResult(0)).getElementType(), emptyResult(op, info.kind));
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

/// True if the position is a row's and differs from row to row.
static bool isRowIndex(const Graph &graph, const Affine &position) {
  if (graph.levelOf(position) > Level::Row)
    return false;
  for (auto [i, size] : llvm::enumerate(graph.shape.factors()))
    if (graph.symbols[i].kind != Symbol::Column && size != 1 && !position.coefficient(i))
      return false;
  return true;
}

GraphBuilder::Result GraphBuilder::visitRow(Operation *op, const Affine &position) {
  Value result = op->getResult(0);
  ReductionInfo info = getReductionInfo(cast<ReductionOpInterface>(op), leaves.rules);
  const Shape &shape = graph.shape;
  if (shape.columnCount() != info.reduced || shape.outerSize() * shape.rowCount() != info.kept ||
      !isRowIndex(graph, position))
    return fail(result, graph.levelOf(position) > Level::Row);
  Affine columns;
  SmallVector<int64_t> strides = rowMajorStrides(shape.columns);
  size_t first = shape.factors().size() - shape.columns.size();
  for (auto [i, stride] : llvm::enumerate(strides))
    if (shape.columns[i] != 1)
      columns = columns + Affine::symbol(first + i) * stride;
  Result operand = visitReduced(op, position, columns);
  if (failed(operand))
    return failure();
  Node node{Node::Reduce, op, tensor(result).getElementType()};
  node.operands = {*operand};
  return addNode(graph, std::move(node));
}

GraphBuilder::Result GraphBuilder::visitSequence(Operation *op, const Affine &position) {
  Value operand = op->getOperand(0);
  Strided keptDims = dimsOf(op, false), reducedDims = dimsOf(op, true);
  auto start = follow(position, keptDims.sizes, keptDims.strides);
  if (!start)
    return fail(op->getResult(0));
  Node node{Node::Sequence, op, tensor(op->getResult(0)).getElementType()};
  for (auto [size, stride] : llvm::zip_equal(reducedDims.sizes, reducedDims.strides)) {
    node.symbols.push_back(addSymbol({Symbol::Sequence, size}));
    *start = *start + Affine::symbol(node.symbols.back()) * stride;
  }
  Result element = visit(operand, *start);
  if (failed(element))
    return fail(obstacle.misplaced ? operand : obstacle.cut);
  node.operands = {*element};
  return addNode(graph, std::move(node));
}

GraphBuilder::Result GraphBuilder::visitParts(Value value, const Affine &position) {
  // The parts meet in place, so every element must be asked for just once.
  if (position != graph.position())
    return fail(value);
  Leaves::Parts parts = leaves.parts.lookup(value);
  Node node{Node::Fold, value.getDefiningOp(), tensor(value).getElementType()};
  node.index = position;
  node.buffer = addBuffer(graph, parts.slot);
  node.parts = parts.count;
  node.stride = tensor(value).getNumElements();
  return addNode(graph, std::move(node));
}

} // namespace reprise::nests
