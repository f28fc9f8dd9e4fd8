// reprise: builds the graph of a loop nest: views and other movements of elements
#include "LoopGraphBuilder.h"

#include <numeric>

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
    return fail(op->getResult(0));
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
  /// Behind the place of the operand's last element.
  int64_t end() const { return low + (operand - 1) * step + 1; }
};
} // namespace

/// The operand's index, where index `at` of the result is one of its places.
static Symbol sourceOf(const PadGroup &group, Operation *op, unsigned number, const Affine &at) {
  Symbol symbol{Symbol::Quotient, group.operand};
  symbol.numerator = at + -group.low;
  symbol.divisor = group.step;
  if (group.step == 1) {
    symbol.op = op;
    symbol.group = number;
    symbol.granule = std::gcd(group.size, std::gcd(group.operand, group.low));
  }
  return symbol;
}

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
  for (auto [i, group] : llvm::enumerate(groups)) {
    // What falls apart leaves an inner dimension without padding.
    int64_t grain = grainOf(op, i);
    group = {group.size / grain, group.operand / grain, group.low / grain, group.step};
    sizes.append({group.size, grain});
    operandSizes.append({group.operand, grain});
  }
  auto index = indexIn(position, sizes);
  if (!index)
    return fail(op->getResult(0));
  Affine source;
  SmallVector<Condition> conditions;
  SmallVector<int64_t> strides = rowMajorStrides(operandSizes);
  for (auto [i, group] : llvm::enumerate(groups)) {
    Affine at = (*index)[2 * i];
    if (!group.isPlain()) {
      conditions.push_back({at, group.low, group.end(), group.step});
      at = Affine::symbol(addSymbol(sourceOf(group, op, i, at)));
    }
    source = source + at * strides[2 * i] + (*index)[2 * i + 1] * strides[2 * i + 1];
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
  int64_t grain = grainOf(op, 0), granule = 0;
  for (Value operand : op->getOperands())
    granule = std::gcd(granule, tensor(operand).getDimSize(dim) * inner / grain);
  int64_t end = type.getDimSize(dim) * inner / grain;
  auto index = indexIn(position, {outer, end, grain});
  if (!index)
    return fail(op->getResult(0));
  Result node = failure();
  for (Value operand : llvm::reverse(op->getOperands())) {
    int64_t size = tensor(operand).getDimSize(dim) * inner / grain, begin = end - size;
    if (size == 0)
      continue;
    Symbol symbol{Symbol::Quotient, size};
    symbol.numerator = (*index)[1] + -begin;
    symbol.op = op;
    symbol.granule = granule;
    Affine at = (*index)[0] * (size * grain) + Affine::symbol(addSymbol(symbol)) * grain;
    Result part = visit(operand, at + (*index)[2]);
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
