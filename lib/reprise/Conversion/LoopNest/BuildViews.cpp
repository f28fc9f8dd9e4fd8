// reprise: builds the kernel of a loop nest: views and other movements of elements
#include "NestBuilder.h"

#include <numeric>

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

NestBuilder::Result NestBuilder::visitView(Operation *op, const Affine &position) {
  Value operand = op->getOperand(0);
  auto view = cast<ViewOpInterface>(op).composeView(StridedView::of(tensor(operand)));
  if (!view)
    return fail(operand);
  auto source = follow(position, view->sizes, view->strides);
  if (!source)
    return fail(op->getResult(0));
  return visit(operand, *source + view->offset);
}

NestBuilder::Result NestBuilder::visitIota(Operation *op, const Affine &position) {
  int64_t dim = cast<IotaOp>(op).getDim();
  RankedTensorType type = tensor(op->getResult(0));
  SmallVector<int64_t> strides(type.getRank(), 0);
  strides[dim] = 1;
  auto index = follow(position, type.getShape(), strides);
  if (!index)
    return fail(op->getResult(0));
  Place place = placeOf(*index);
  return insert(NumberOp::create(b, location, elementOf(type.getElementType()), place.indices(),
                                 place.coefficients()));
}

std::optional<Affine> NestBuilder::indirect(Value indices, const Affine &position, int64_t size) {
  Result number = visit(indices, position);
  if (failed(number))
    return std::nullopt;
  return addSymbol({size, insert(PositionOp::create(b, location, *number, size))});
}

/// Rows of one table, or of each row of a tensor the elements: [tables, rows, elements of a row].
NestBuilder::Result NestBuilder::visitGather(Operation *op, const Affine &position) {
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

NestBuilder::Result NestBuilder::visitDynamicSlice(Operation *op, const Affine &position) {
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
  Symbol symbol{group.operand};
  symbol.numerator = at + -group.low;
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

Value KernelWriter::choose(const Affine &at, int64_t lower, int64_t upper, int64_t step,
                           Value inside, Value outside) {
  Place place = placeOf(at);
  return insert(ChooseOp::create(b, location, inside, outside, place.indices(),
                                 place.coefficients(), lower, upper, step));
}

static int64_t grainOf(const NestBuilder::Grains &grains, Operation *op, unsigned group) {
  auto found = grains.find({op, group});
  return found == grains.end() ? 1 : found->second;
}

NestBuilder::Result NestBuilder::visitPad(Operation *op, const Affine &position) {
  auto pad = cast<PadOp>(op);
  Value outside = addSplat(pad.getType().getElementType(), pad.getValue());
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
  SmallVector<std::pair<PadGroup, Affine>> conditions;
  SmallVector<int64_t> strides = rowMajorStrides(operandSizes);
  for (auto [i, group] : llvm::enumerate(groups)) {
    Affine at = (*index)[2 * i];
    if (!group.isPlain()) {
      conditions.push_back({group, at});
      at = addQuotient(sourceOf(group, op, i, at), group.step);
    }
    source = source + at * strides[2 * i] + (*index)[2 * i + 1] * strides[2 * i + 1];
  }
  Result element = visit(pad.getOperand(), source);
  for (auto &[group, at] : llvm::reverse(conditions)) {
    if (failed(element))
      return failure();
    element = choose(at, group.low, group.end(), group.step, *element, outside);
  }
  return element;
}

NestBuilder::Result NestBuilder::visitConcatenate(Operation *op, const Affine &position) {
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
  Result element = failure();
  for (Value operand : llvm::reverse(op->getOperands())) {
    int64_t size = tensor(operand).getDimSize(dim) * inner / grain, begin = end - size;
    if (size == 0)
      continue;
    Symbol symbol{size};
    symbol.numerator = (*index)[1] + -begin;
    symbol.op = op;
    symbol.granule = granule;
    Affine at = (*index)[0] * (size * grain) + addSymbol(symbol) * grain;
    Result part = visit(operand, at + (*index)[2]);
    if (failed(part))
      return failure();
    element =
        succeeded(element) ? Result(choose((*index)[1], begin, end, 1, *part, *element)) : part;
    end = begin;
  }
  return element;
}

} // namespace reprise::nests
