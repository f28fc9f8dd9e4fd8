// reprise: builds the graph of a loop nest: views and other movements of elements
#include "LoopGraphBuilder.h"

using namespace mlir;

namespace reprise::loops {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

GraphBuilder::Result GraphBuilder::visitView(Operation *op, const Affine &position) {
  Value operand = op->getOperand(0);
  auto view = cast<ViewOpInterface>(op).composeView(StridedView::of(tensor(operand)));
  if (!view)
    return fail(operand);
  auto source = follow(position, view->sizes, view->strides);
  if (!source)
    return fail(operand);
  return visit(operand, *source + view->offset);
}

GraphBuilder::Result GraphBuilder::visitIota(Operation *op, const Affine &position) {
  int64_t dim = cast<IotaOp>(op).getDim();
  RankedTensorType type = tensor(op->getResult(0));
  SmallVector<int64_t> strides(type.getRank(), 0);
  strides[dim] = 1;
  auto index = follow(position, type.getShape(), strides);
  if (!index)
    return fail(op->getResult(0));
  Node node{Node::Index, op, type.getElementType()};
  node.index = *index;
  return add(std::move(node));
}

GraphBuilder::Result GraphBuilder::visitGather(Operation *op, const Affine &position) {
  auto gather = cast<GatherOp>(op);
  RankedTensorType table = tensor(gather.getTable());
  int64_t row = Shape::product(table.getShape().drop_front());
  // [indices, row] of the result.
  SmallVector<int64_t> sizes = {tensor(gather.getIndices()).getNumElements(), row};
  auto at = follow(position, sizes, {1, 0}), inRow = follow(position, sizes, {0, 1});
  if (!at || !inRow)
    return fail(op->getResult(0));
  Result number = visit(gather.getIndices(), *at);
  if (failed(number))
    return failure();
  Symbol symbol{Symbol::Indirect, table.getDimSize(0)};
  symbol.node = *number;
  Affine start = Affine::symbol(addSymbol(symbol)) * row;
  return visit(gather.getTable(), start + *inRow);
}

namespace {
/// Part of the result's dimensions, joined, and where the operand lies in it.
struct PadGroup {
  int64_t size;    // of the result
  int64_t operand; // of the operand
  int64_t low, step;
  bool isPlain() const { return size == operand; }
};
} // namespace

/// Dimensions without padding join their neighbours to the left, unless these have holes.
static SmallVector<PadGroup> groupPad(PadOp op) {
  SmallVector<PadGroup> groups;
  RankedTensorType from = tensor(op.getOperand()), to = op.getType();
  for (int64_t d = 0; d < from.getRank(); ++d) {
    PadGroup group{to.getDimSize(d), from.getDimSize(d), op.getLow()[d], op.getInterior()[d] + 1};
    if (!groups.empty() && group.isPlain() && groups.back().step == 1) {
      PadGroup &left = groups.back();
      left = {left.size * group.size, left.operand * group.size, left.low * group.size, 1};
    } else {
      groups.push_back(group);
    }
  }
  return groups;
}

GraphBuilder::Result GraphBuilder::visitPad(Operation *op, const Affine &position) {
  auto pad = cast<PadOp>(op);
  int outside = addSplat(pad.getType().getElementType(), pad.getValue());
  if (tensor(pad.getOperand()).getNumElements() == 0)
    return outside;
  SmallVector<PadGroup> groups = groupPad(pad);
  SmallVector<int64_t> sizes, operandSizes;
  for (const PadGroup &group : groups) {
    sizes.push_back(group.size);
    operandSizes.push_back(group.operand);
  }
  auto index = indexIn(position, sizes);
  if (!index)
    return fail(op->getResult(0));
  Affine source;
  SmallVector<Condition> conditions;
  for (auto [i, stride] : llvm::enumerate(rowMajorStrides(operandSizes))) {
    const PadGroup &group = groups[i];
    Affine at = (*index)[i];
    if (!group.isPlain()) {
      int64_t end = group.low + (group.operand - 1) * group.step + 1;
      conditions.push_back({at, group.low, end, group.step});
      Symbol symbol{Symbol::Quotient, group.operand};
      symbol.numerator = at + -group.low;
      symbol.divisor = group.step;
      at = Affine::symbol(addSymbol(symbol));
    }
    source = source + at * stride;
  }
  Result node = visit(pad.getOperand(), source);
  for (Condition &condition : llvm::reverse(conditions)) {
    if (failed(node))
      return failure();
    node = choose(condition, *node, outside);
  }
  return node;
}

GraphBuilder::Result GraphBuilder::visitConcatenate(Operation *op, const Affine &position) {
  int64_t dim = cast<ConcatenateOp>(op).getDim();
  RankedTensorType type = tensor(op->getResult(0));
  int64_t outer = Shape::product(type.getShape().take_front(dim));
  int64_t inner = Shape::product(type.getShape().drop_front(dim + 1));
  auto index = indexIn(position, {outer, type.getDimSize(dim) * inner});
  if (!index)
    return fail(op->getResult(0));
  Result node = failure();
  int64_t end = type.getDimSize(dim) * inner;
  for (Value operand : llvm::reverse(op->getOperands())) {
    int64_t size = tensor(operand).getDimSize(dim) * inner, begin = end - size;
    if (size == 0)
      continue;
    Symbol symbol{Symbol::Quotient, size};
    symbol.numerator = (*index)[1] + -begin;
    Result part = visit(operand, (*index)[0] * size + Affine::symbol(addSymbol(symbol)));
    if (failed(part))
      return failure();
    node = succeeded(node) ? choose({(*index)[1], begin, end, 1}, *part, *node) : part;
    end = begin;
  }
  return node;
}

int GraphBuilder::choose(Condition condition, int inside, int outside) {
  Node node{Node::Choice, nullptr, graph.nodes[inside].type};
  node.operands = {inside, outside};
  node.condition = std::move(condition);
  return add(std::move(node));
}

} // namespace reprise::loops
