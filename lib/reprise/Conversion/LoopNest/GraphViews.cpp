// reprise: builds the graph of a loop nest: views and other movements of elements
#include "GraphBuilder.h"

#include <numeric>

using namespace mlir;

namespace reprise::nests {

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
  return addNode(graph, std::move(node));
}

std::optional<Affine> GraphBuilder::indirect(Value indices, const Affine &position, int64_t size) {
  Result number = visit(indices, position);
  if (failed(number))
    return std::nullopt;
  Symbol symbol{Symbol::Indirect, size};
  symbol.node = *number;
  return Affine::symbol(addSymbol(symbol));
}

/// Rows of one table, or of each row of a tensor the elements: [tables, rows, elements of a row].
GraphBuilder::Result GraphBuilder::visitGather(Operation *op, const Affine &position) {
  Value table = op->getOperand(0), indices = op->getOperand(1);
  bool along = isa<TakeAlongOp>(op);
  RankedTensorType from = tensor(table);
  int64_t rows = along ? from.getShape().back() : from.getDimSize(0);
  int64_t row = along ? 1 : Shape::product(from.getShape().drop_front());
  // [tables, indices of a table, row] of the result.
  int64_t each = along ? tensor(indices).getShape().back() : tensor(indices).getNumElements();
  SmallVector<int64_t> sizes = {tensor(indices).getNumElements() / each, each, row};
  // The first that fails says what has to fall apart.
  auto at = follow(position, sizes, {each, 1, 0});
  auto inRow = at ? follow(position, sizes, {0, 0, 1}) : std::nullopt;
  auto first = inRow ? follow(position, sizes, {rows, 0, 0}) : std::nullopt;
  if (!first)
    return fail(op->getResult(0));
  auto number = indirect(indices, *at, rows);
  if (!number)
    return failure();
  return visit(table, (*first + *number) * row + *inRow);
}

GraphBuilder::Result GraphBuilder::visitDynamicSlice(Operation *op, const Affine &position) {
  auto slice = cast<DynamicSliceOp>(op);
  RankedTensorType from = tensor(slice.getOperand()), to = slice.getType();
  SmallVector<int64_t> strides = rowMajorStrides(from.getShape());
  auto source = follow(position, to.getShape(), strides);
  if (!source)
    return fail(op->getResult(0));
  for (int64_t d = 0; d < to.getRank(); ++d) {
    int64_t places = from.getDimSize(d) - to.getDimSize(d) + 1;
    if (places == 1)
      continue;
    auto start = indirect(slice.getStarts(), Affine::constant(d), places);
    if (!start)
      return failure();
    *source = *source + *start * strides[d];
  }
  return visit(slice.getOperand(), *source);
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

static int choose(Graph &graph, Condition condition, int inside, int outside) {
  Node node{Node::Choice, nullptr, graph.nodes[inside].type};
  node.operands = {inside, outside};
  node.condition = std::move(condition);
  return addNode(graph, std::move(node));
}

static int64_t grainOf(const GraphBuilder::Grains &grains, Operation *op, unsigned group) {
  auto found = grains.find({op, group});
  return found == grains.end() ? 1 : found->second;
}

GraphBuilder::Result GraphBuilder::visitPad(Operation *op, const Affine &position) {
  auto pad = cast<PadOp>(op);
  int outside = addSplat(graph, pad.getType().getElementType(), pad.getValue());
  if (tensor(pad.getOperand()).getNumElements() == 0)
    return outside;
  SmallVector<PadGroup> groups = groupPad(pad);
  SmallVector<int64_t> sizes, operandSizes;
  for (auto [i, group] : llvm::enumerate(groups)) {
    // What falls apart leaves an inner dimension without padding.
    int64_t grain = grainOf(grains, op, i);
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
    node = choose(graph, condition, *node, outside);
  }
  return node;
}

GraphBuilder::Result GraphBuilder::visitConcatenate(Operation *op, const Affine &position) {
  int64_t dim = cast<ConcatenateOp>(op).getDim();
  RankedTensorType type = tensor(op->getResult(0));
  int64_t outer = Shape::product(type.getShape().take_front(dim));
  int64_t inner = Shape::product(type.getShape().drop_front(dim + 1));
  int64_t grain = grainOf(grains, op, 0), granule = 0;
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
    node = succeeded(node) ? choose(graph, {(*index)[1], begin, end, 1}, *part, *node) : part;
    end = begin;
  }
  return node;
}

} // namespace reprise::nests
