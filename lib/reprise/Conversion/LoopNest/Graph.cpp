// reprise: builds the graph of a loop nest: roots, leaves, arithmetic
#include "GraphBuilder.h"
#include "Program.h"

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

GraphBuilder::GraphBuilder(const Shape &shape, const Leaves &leaves, const Grains &grains)
    : leaves(leaves), grains(grains) {
  graph.shape = shape;
  auto addAll = [&](ArrayRef<int64_t> factors, Symbol::Kind kind) {
    for (int64_t size : factors)
      addSymbol({kind, size});
  };
  addAll(shape.outer, Symbol::Outer);
  addAll(shape.rows, Symbol::Row);
  addAll(shape.columns, Symbol::Column);
}

unsigned GraphBuilder::addSymbol(Symbol symbol) {
  symbolSizes.push_back(symbol.size);
  graph.symbols.push_back(std::move(symbol));
  return graph.symbols.size() - 1;
}

int addBuffer(Graph &graph, BufferSlot slot) {
  for (auto [i, known] : llvm::enumerate(graph.buffers))
    if (known.kind == slot.kind && known.index == slot.index && known.offset == slot.offset)
      return i;
  graph.buffers.push_back(slot);
  return graph.buffers.size() - 1;
}

/// Shared operands count each time, which must not overflow.
constexpr int64_t mostCost = 1 << 20;

/// About the instructions of a node itself, for one element.
static int64_t ownCost(const Node &node) {
  switch (node.kind) {
  case Node::Constant:
  case Node::Index:
  case Node::Reduce:
    return 0;
  case Node::Compute: {
    int64_t count = std::max<int64_t>(countResultElements(node.op), 1);
    return std::max<int64_t>(cast<CostOpInterface>(node.op).getFlops() / count, 1);
  }
  case Node::Draw:
    return 30;
  case Node::Fold:
    return node.parts;
  default:
    return 1;
  }
}

int addNode(Graph &graph, Node node) {
  node.varies = graph.variationOf(node.index);
  if (node.condition)
    node.varies |= graph.variationOf(node.condition->index);
  node.cost = ownCost(node);
  for (int operand : node.operands) {
    const Node &input = graph.nodes[operand];
    node.varies |= input.varies;
    node.stage = std::max(node.stage, input.stage);
    node.floor = std::max(node.floor, input.floor);
    // What a row computes once is free.
    if (input.level >= Level::Column)
      node.cost = std::min(node.cost + input.cost, mostCost);
  }
  for (unsigned symbol : node.varies.set_bits())
    if (graph.symbols[symbol].kind == Symbol::Indirect)
      node.stage = std::max(node.stage, graph.nodes[graph.symbols[symbol].node].stage);
  for (unsigned symbol : node.symbols) {
    node.varies.reset(symbol);
    node.cost *= graph.symbols[symbol].size;
  }
  if (node.kind == Node::Reduce) {
    ++node.stage;
    for (auto [i, symbol] : llvm::enumerate(graph.symbols))
      if (symbol.kind == Symbol::Column && i < node.varies.size())
        node.varies.reset(i);
  }
  if (node.kind == Node::Reduce || node.kind == Node::Fold)
    node.floor = Level::Row;
  // A block's element is at hand within its row only, even if it is the only one.
  if (node.kind == Node::Tile)
    node.floor = Level::Column;
  node.level = std::max(node.floor, graph.levelOf(node.varies));
  graph.nodes.push_back(std::move(node));
  return graph.nodes.size() - 1;
}

static int addLoad(Graph &graph, Type type, BufferSlot slot, const Affine &position) {
  Node node{Node::Load, nullptr, type};
  node.index = position;
  node.buffer = addBuffer(graph, slot);
  return addNode(graph, std::move(node));
}

int addSplat(Graph &graph, Type type, Attribute value) {
  Node node{Node::Constant, nullptr, type};
  node.value = value;
  return addNode(graph, std::move(node));
}

GraphBuilder::Result GraphBuilder::fail(Value cut, bool misplaced) {
  obstacle = {cut, misplaced};
  return failure();
}

std::optional<SmallVector<Affine>> GraphBuilder::indexIn(const Affine &position,
                                                         ArrayRef<int64_t> sizes) {
  auto index = delinearize(position, sizes, symbolSizes, split);
  // Only the factors of the shape can fall apart, and pieces that are made of wholes.
  if (split && split->symbol >= graph.shape.factors().size() &&
      graph.symbols[split->symbol].granule % split->divisor != 0)
    split.reset();
  return index;
}

std::optional<Affine> GraphBuilder::follow(const Affine &position, ArrayRef<int64_t> sizes,
                                           ArrayRef<int64_t> strides) {
  Strided merged = mergeDims(sizes, strides);
  auto index = indexIn(position, merged.sizes);
  if (!index)
    return std::nullopt;
  Affine result;
  for (auto [at, stride] : llvm::zip_equal(*index, merged.strides))
    result = result + at * stride;
  return result;
}

GraphBuilder::Result GraphBuilder::visitPartsRoot(const Root &root) {
  // The kept index is that of (outer, columns) or of the rows; the reduced one that of the rows or
  // of the columns.
  Symbol::Kind reducedKind = root.kind == Root::RowParts ? Symbol::Row : Symbol::Column;
  Affine kept, reduced;
  int64_t keptStride = 1, reducedStride = 1;
  SmallVector<int64_t> factors = graph.shape.factors();
  for (size_t i = factors.size(); i-- > 0;) {
    bool isReduced = graph.symbols[i].kind == reducedKind;
    Affine &position = isReduced ? reduced : kept;
    int64_t &stride = isReduced ? reducedStride : keptStride;
    if (factors[i] != 1)
      position = position + Affine::symbol(i) * stride;
    stride *= factors[i];
  }
  return visitReduced(root.value.getDefiningOp(), kept, reduced);
}

LogicalResult GraphBuilder::addRoot(const Root &given) {
  Root root = given;
  Affine position = root.kind == Root::Full  ? graph.position()
                    : root.kind == Root::Row ? graph.rowPosition()
                                             : Affine();
  Result node = root.isParts() ? visitPartsRoot(root) : visit(root.value, position);
  if (failed(node))
    return failure();
  root.node = *node;
  if (root.slot)
    root.buffer = addBuffer(graph, *root.slot);
  graph.roots.push_back(root);
  return success();
}

GraphBuilder::Result GraphBuilder::visit(Value value, const Affine &position) {
  auto key = std::make_pair(value.getAsOpaquePointer(), position);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Result node = failure();
  if (leaves.parts.contains(value))
    node = visitParts(value, position);
  else if (leaves.tile && leaves.tile == value)
    node = visitTile(value, position);
  else if (auto stored = leaves.stored.find(value); stored != leaves.stored.end())
    node = addLoad(graph, tensor(value).getElementType(), stored->second, position);
  else if (Operation *op = value.getDefiningOp())
    node = visitOp(op, value, position);
  if (succeeded(node))
    known[key] = *node;
  return node;
}

GraphBuilder::Result GraphBuilder::visitTile(Value value, const Affine &position) {
  if (position != graph.position())
    return fail(value);
  Node node{Node::Tile, nullptr, tensor(value).getElementType()};
  node.index = position;
  return addNode(graph, std::move(node));
}

/// Adds the element of a constant; none if it is not known here.
static std::optional<int> addConstant(Graph &graph, Operation *op, const Affine &position) {
  auto dense = dyn_cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
  if (!dense)
    return std::nullopt;
  if (dense.isSplat())
    return addSplat(graph, dense.getElementType(), dense.getSplatValue<Attribute>());
  if (!position.isConstant())
    return std::nullopt;
  return addSplat(graph, dense.getElementType(), dense.getValues<Attribute>()[position.offset]);
}

GraphBuilder::Result GraphBuilder::visitOp(Operation *op, Value value, const Affine &position) {
  if (op->hasTrait<OpTrait::ConstantLike>()) {
    std::optional<int> node = addConstant(graph, op, position);
    return node ? Result(*node) : fail(nullptr);
  }
  if (isa<ViewOpInterface>(op))
    return visitView(op, position);
  if (isa<ReductionOpInterface>(op))
    return visitReduction(op, position);
  if (isa<RandomOpInterface>(op) && !isa<AttentionOpInterface>(op))
    return visitDraw(op, position);
  if (isa<EmissionOpInterface>(op))
    return visitCompute(op, position);
  if (isa<PadOp>(op))
    return visitPad(op, position);
  if (isa<ConcatenateOp>(op))
    return visitConcatenate(op, position);
  if (isa<GatherOp, TakeAlongOp>(op))
    return visitGather(op, position);
  if (isa<DynamicSliceOp>(op))
    return visitDynamicSlice(op, position);
  if (isa<IotaOp>(op))
    return visitIota(op, position);
  // What runs alone has to be stored; nothing else is known here.
  return fail(runsAlone(op) ? value : Value());
}

GraphBuilder::Result GraphBuilder::visitCompute(Operation *op, const Affine &position) {
  Node node{Node::Compute, op, tensor(op->getResult(0)).getElementType()};
  for (Value operand : op->getOperands()) {
    if (tensor(operand).getShape() != tensor(op->getResult(0)).getShape())
      return fail(nullptr);
    Result input = visit(operand, position);
    if (failed(input))
      return failure();
    node.operands.push_back(*input);
  }
  return addNode(graph, std::move(node));
}

GraphBuilder::Result GraphBuilder::visitDraw(Operation *op, const Affine &position) {
  auto random = cast<RandomOpInterface>(op);
  if (!random.getSeedOperand() || !random.getStreamNumber())
    return fail(nullptr);
  Node node{Node::Draw, op, tensor(op->getResult(0)).getElementType()};
  auto global =
      follow(position, random.getDrawnShape(), rowMajorStrides(random.getDrawnGlobalShape()));
  // Lanes draw at equal distances, not at computed places.
  bool isComputed = global && llvm::any_of(global->terms, [&](auto term) {
                      return graph.symbols[term.first].kind == Symbol::Indirect;
                    });
  if (!global || isComputed)
    return fail(op->getResult(0));
  node.index = *global;
  Type i64 = IntegerType::get(op->getContext(), 64);
  node.operands.push_back(
      addLoad(graph, i64, {BufferSlot::Stream, *random.getStreamNumber(), 0}, {}));
  SmallVector<std::pair<Value, Affine>> inputs = {{random.getSeedOperand(), {}},
                                                  {random.getOffsetOperand(), {}}};
  if (Value origin = random.getOriginOperand())
    for (int64_t d = 0; d < tensor(origin).getDimSize(0); ++d)
      inputs.push_back({origin, Affine::constant(d)});
  if (auto dropout = dyn_cast<DropoutOp>(op))
    inputs.push_back({dropout.getOperand(), position});
  for (auto &[value, at] : inputs) {
    Result input = visit(value, at);
    if (failed(input))
      return failure();
    node.operands.push_back(*input);
  }
  return addNode(graph, std::move(node));
}

/// Quotients by 1 only served to bound an index.
static void resolveQuotients(Graph &graph) {
  auto resolve = [&](Affine &affine) {
    for (size_t number = graph.symbols.size(); number-- > 0;) {
      const Symbol &symbol = graph.symbols[number];
      if (symbol.kind == Symbol::Quotient && symbol.divisor == 1)
        affine = affine.substitute(number, symbol.numerator);
    }
  };
  for (Node &node : graph.nodes) {
    resolve(node.index);
    if (node.condition)
      resolve(node.condition->index);
  }
  for (Symbol &symbol : graph.symbols)
    resolve(symbol.numerator);
}

Graph GraphBuilder::take() {
  resolveQuotients(graph);
  return std::move(graph);
}

SmallVector<int> Graph::inputsOf(int number) const {
  const Node &node = nodes[number];
  SmallVector<int> inputs(node.operands);
  llvm::append_range(inputs, indicesOf(node.index));
  if (node.condition)
    llvm::append_range(inputs, indicesOf(node.condition->index));
  return inputs;
}

SmallVector<int> Graph::indicesOf(const Affine &affine) const {
  SmallVector<int> numbers;
  for (auto [number, coefficient] : affine.terms) {
    const Symbol &symbol = symbols[number];
    if (symbol.kind == Symbol::Indirect)
      numbers.push_back(symbol.node);
    if (symbol.kind == Symbol::Quotient)
      llvm::append_range(numbers, indicesOf(symbol.numerator));
  }
  return numbers;
}

void GraphBuilder::apply(Split split, Shape &shape, Grains &grains) const {
  const Symbol &symbol = graph.symbols[split.symbol];
  if (!symbol.op)
    return shape.split(split.symbol, split.divisor);
  int64_t &grain = grains.try_emplace({symbol.op, symbol.group}, 1).first->second;
  grain *= split.divisor;
}

FailureOr<Graph> buildGraph(Shape shape, ArrayRef<Root> roots, const Leaves &leaves,
                            Obstacle &obstacle) {
  GraphBuilder::Grains grains;
  while (true) {
    GraphBuilder builder(shape, leaves, grains);
    if (llvm::all_of(roots, [&](const Root &root) { return succeeded(builder.addRoot(root)); }))
      return builder.take();
    if (!builder.split) {
      obstacle = builder.obstacle;
      return failure();
    }
    builder.apply(*builder.split, shape, grains);
  }
}

} // namespace reprise::nests
