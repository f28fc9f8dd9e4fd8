// reprise: the iteration space of a loop nest, and those that reductions ask for
#include "Graph.h"

using namespace mlir;

namespace reprise::nests {

int64_t Shape::product(ArrayRef<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    result *= factor;
  return result;
}

SmallVector<int64_t> Shape::factors() const {
  SmallVector<int64_t> all(outer);
  llvm::append_range(all, rows);
  llvm::append_range(all, columns);
  return all;
}

void Shape::addDims(SmallVector<int64_t> Shape::*group, ArrayRef<int64_t> sizes,
                    ArrayRef<int64_t> dimStrides) {
  Strided merged = mergeDims(sizes, dimStrides);
  if (merged.sizes.empty())
    merged = {{1}, {0}};
  llvm::append_range(this->*group, merged.sizes);
  llvm::append_range(strides, merged.strides);
}

void Shape::split(unsigned symbol, int64_t divisor) {
  if (!strides.empty()) {
    int64_t stride = strides[symbol];
    strides[symbol] = stride * divisor;
    strides.insert(strides.begin() + symbol + 1, stride);
  }
  for (SmallVector<int64_t> *group : {&outer, &rows, &columns}) {
    if (symbol < group->size()) {
      (*group)[symbol] /= divisor;
      group->insert(group->begin() + symbol + 1, divisor);
      return;
    }
    symbol -= group->size();
  }
}

bool Graph::has(Node::Kind kind) const {
  return llvm::any_of(nodes, [&](const Node &node) { return node.kind == kind; });
}

unsigned Graph::innermost() const { return shape.factors().size() - 1; }

llvm::SmallBitVector Graph::variationOf(const Affine &affine) const {
  llvm::SmallBitVector result(symbols.size());
  for (auto [number, coefficient] : affine.terms) {
    const Symbol &symbol = symbols[number];
    result.set(number);
    if (symbol.kind == Symbol::Indirect)
      result |= nodes[symbol.node].varies;
    if (symbol.kind == Symbol::Quotient)
      result |= variationOf(symbol.numerator);
  }
  return result;
}

Level Graph::levelOf(const llvm::SmallBitVector &varies) const {
  Level level = Level::Kernel;
  for (unsigned number : varies.set_bits()) {
    Symbol::Kind kind = symbols[number].kind;
    if (kind == Symbol::Outer || kind == Symbol::Row)
      level = std::max(level, Level::Row);
    if (kind == Symbol::Column)
      level = std::max(level, Level::Column);
    if (kind == Symbol::Sequence)
      level = Level::Inner;
  }
  return level;
}

/// The position over the first symbols.
static Affine positionOf(ArrayRef<int64_t> factors, ArrayRef<int64_t> strides) {
  Affine position;
  for (auto [i, stride] : llvm::enumerate(strides))
    if (factors[i] != 1)
      position = position + Affine::symbol(i) * stride;
  return position;
}

Affine Graph::position() const {
  SmallVector<int64_t> factors = shape.factors();
  return positionOf(factors, shape.strides.empty() ? rowMajorStrides(factors) : shape.strides);
}

Affine Graph::rowPosition() const {
  SmallVector<int64_t> factors = shape.factors();
  factors.truncate(factors.size() - shape.columns.size());
  return positionOf(factors, rowMajorStrides(factors));
}

/// Few long rows: their blocks have to be shared out among the workers.
static bool isWide(const ReductionInfo &info, const NestRules &rules) {
  if (info.reduced >= rules.longRow)
    return info.kept < rules.fewRows;
  return info.reduced >= rules.severalBlocks && info.kept <= rules.fewRows / 2;
}

ReductionInfo getReductionInfo(ReductionOpInterface op, const NestRules &rules) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> dims = op.getReducedDims(), before, after;
  ReductionInfo info{ReductionMode::InRow, op.getReductionKind(), {}, 1, 1, 0};
  for (int64_t d = 0; d < type.getRank(); ++d) {
    bool reduced = llvm::is_contained(dims, d);
    (reduced ? info.reduced : info.kept) *= type.getDimSize(d);
    if (!reduced)
      (d < dims.back() ? before : after).push_back(d);
  }
  SmallVector<int64_t> all = rowMajorStrides(type.getShape());
  auto add = [&](SmallVector<int64_t> Shape::*group, ArrayRef<int64_t> chosen) {
    auto sizes = llvm::map_to_vector(chosen, [&](int64_t d) { return type.getDimSize(d); });
    auto strides = llvm::map_to_vector(chosen, [&](int64_t d) { return all[d]; });
    info.shape.addDims(group, sizes, strides);
  };
  if (dims.back() == type.getRank() - 1) {
    if (isWide(info, rules))
      info.mode = ReductionMode::LaneParts;
    info.blocks = llvm::divideCeil(info.reduced, laneBlock);
    add(&Shape::rows, before);
    add(&Shape::columns, dims);
    return info;
  }
  info.mode = info.reduced <= orderedBlock ? ReductionMode::Sequence : ReductionMode::RowParts;
  info.blocks = llvm::divideCeil(info.reduced, orderedBlock);
  add(&Shape::outer, before);
  add(&Shape::rows, dims);
  add(&Shape::columns, after);
  return info;
}

} // namespace reprise::nests
