// reprise: builds the kernel of a loop nest: roots, leaves, arithmetic
#include "NestBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise::nests {

static RankedTensorType tensor(Value value) { return cast<RankedTensorType>(value.getType()); }

static OwningOpRef<KernelOp> makeKernel(Location location, const Shape &shape) {
  OpBuilder b(location.getContext());
  OwningOpRef<KernelOp> kernel =
      KernelOp::create(b, location, shape.outer, shape.rows, shape.columns, shape.strides,
                       ArrayRef<int64_t>(), ScheduleAttr());
  size_t loops = shape.factors().size();
  kernel->getBody().emplaceBlock().addArguments(SmallVector<Type>(loops, b.getIndexType()),
                                                SmallVector<Location>(loops, location));
  return kernel;
}

KernelWriter::KernelWriter(Location location, const Shape &shape)
    : b(location.getContext()), location(location), kernel(makeKernel(location, shape)),
      nest(*kernel), open({&kernel->getBlock()}) {
  for (auto [i, size] : llvm::enumerate(shape.factors()))
    addSymbol({size, nest.loop(i)});
}

NestBuilder::NestBuilder(Location location, const Shape &shape, const Leaves &leaves,
                         const Grains &grains)
    : KernelWriter(location, shape), leaves(leaves), grains(grains) {}

Affine KernelWriter::addSymbol(Symbol symbol) {
  symbolSizes.push_back(symbol.size);
  symbols.push_back(std::move(symbol));
  return Affine::symbol(symbols.size() - 1);
}

Affine KernelWriter::addQuotient(Symbol symbol, int64_t divisor) {
  if (divisor == 1)
    return addSymbol(std::move(symbol));
  Place place = placeOf(symbol.numerator);
  symbol.value = insert(QuotientOp::create(b, location, b.getIndexType(), place.indices(),
                                           place.coefficients(), divisor, symbol.size));
  return addSymbol(std::move(symbol));
}

Place KernelWriter::placeOf(Affine affine) const {
  // Quotients by 1 only served to bound an index.
  for (size_t number = symbols.size(); number-- > 0;)
    if (!symbols[number].value)
      affine = affine.substitute(number, symbols[number].numerator);
  Place place;
  place.offset = affine.offset;
  for (auto [symbol, coefficient] : affine.terms)
    place.terms.push_back({symbols[symbol].value, coefficient});
  return place;
}

Value KernelWriter::insert(Operation *op) {
  size_t depth = 0;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      const auto *block = llvm::find(open, operand.getParentBlock());
      if (block != open.end())
        depth = std::max<size_t>(depth, block - open.begin());
    }
  });
  open[depth]->push_back(op);
  nest.add(op);
  return op->getResult(0);
}

Value KernelWriter::bufferOf(const BufferSlot &slot) {
  size_t loops = nest.shape.factors().size();
  for (auto [i, known] : llvm::enumerate(nest.buffers))
    if (known.kind == slot.kind && known.index == slot.index && known.offset == slot.offset)
      return nest.loop(loops + i);
  nest.buffers.push_back(slot);
  return open[0]->addArgument(BufferType::get(b.getContext()), location);
}

Value KernelWriter::addRead(Type type, BufferSlot slot, const Affine &at) {
  Place place = placeOf(at);
  return insert(ReadOp::create(b, location, elementOf(type), bufferOf(slot), place.indices(),
                               place.coefficients()));
}

Value KernelWriter::addSplat(Type type, Attribute value) {
  return insert(ConstantOp::create(b, location, DenseElementsAttr::get(elementOf(type), value)));
}

NestBuilder::Result NestBuilder::fail(Value cut, bool misplaced) {
  obstacle = {cut, misplaced};
  return failure();
}

std::optional<SmallVector<Affine>> NestBuilder::indexIn(const Affine &position,
                                                        ArrayRef<int64_t> sizes) {
  auto index = delinearize(position, sizes, symbolSizes, split);
  // Only the factors of the shape can fall apart, and pieces that are made of wholes.
  if (split && split->symbol >= nest.shape.factors().size() &&
      symbols[split->symbol].granule % split->divisor != 0)
    split.reset();
  return index;
}

std::optional<Affine> NestBuilder::follow(const Affine &position, ArrayRef<int64_t> sizes,
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

NestBuilder::Result NestBuilder::visitPartsRoot(const Root &root) {
  // The kept index is that of (outer, columns) or of the rows; the reduced one that of the rows or
  // of the columns.
  const Shape &shape = nest.shape;
  Affine kept, reduced;
  int64_t keptStride = 1, reducedStride = 1;
  SmallVector<int64_t> factors = shape.factors();
  for (size_t i = factors.size(); i-- > 0;) {
    bool isReduced = root.what == Stored::RowParts
                         ? i >= shape.outer.size() && i < shape.firstColumn()
                         : i >= shape.firstColumn();
    Affine &position = isReduced ? reduced : kept;
    int64_t &stride = isReduced ? reducedStride : keptStride;
    if (factors[i] != 1)
      position = position + Affine::symbol(i) * stride;
    stride *= factors[i];
  }
  return visitReduced(root.value.getDefiningOp(), kept, reduced);
}

/// The position over the first loops.
static Affine positionOf(ArrayRef<int64_t> factors, ArrayRef<int64_t> strides) {
  Affine position;
  for (auto [i, stride] : llvm::enumerate(strides))
    if (factors[i] != 1)
      position = position + Affine::symbol(i) * stride;
  return position;
}

Affine KernelWriter::position() const {
  SmallVector<int64_t> factors = nest.shape.factors();
  return positionOf(factors,
                    nest.shape.strides.empty() ? rowMajorStrides(factors) : nest.shape.strides);
}

LogicalResult NestBuilder::addRoot(const Root &root) {
  SmallVector<int64_t> rows = nest.shape.factors();
  rows.truncate(nest.shape.firstColumn());
  Affine at = root.what == Stored::Elements ? position()
              : root.what == Stored::Rows   ? positionOf(rows, rowMajorStrides(rows))
                                            : Affine();
  Result element = root.isParts() ? visitPartsRoot(root) : visit(root.value, at);
  if (failed(element))
    return failure();
  FoldAttr fold;
  if (root.isParts())
    fold =
        FoldAttr::get(b.getContext(),
                      foldOf(root.value.getDefiningOp<ReductionOpInterface>().getReductionKind()));
  Operation *store = StoreOp::create(b, location, root.what, fold, *element,
                                     root.slot ? bufferOf(*root.slot) : Value());
  open[0]->push_back(store);
  nest.add(store);
  return success();
}

NestBuilder::Result NestBuilder::visit(Value value, const Affine &position) {
  auto key = std::make_pair(value.getAsOpaquePointer(), position);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  Result node = failure();
  if (leaves.parts.contains(value))
    node = visitParts(value, position);
  else if (leaves.tile && leaves.tile == value)
    node = visitTile(value, position);
  else if (auto stored = leaves.stored.find(value); stored != leaves.stored.end())
    node = addRead(tensor(value).getElementType(), stored->second, position);
  else if (Operation *op = value.getDefiningOp())
    node = visitOp(op, value, position);
  if (succeeded(node))
    known[key] = *node;
  return node;
}

NestBuilder::Result NestBuilder::visitTile(Value value, const Affine &at) {
  if (at != position())
    return fail(value);
  return insert(TileOp::create(b, location, elementOf(tensor(value).getElementType())));
}

NestBuilder::Result NestBuilder::visitConstant(ConstantOp op, const Affine &position) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || (!dense.isSplat() && !position.isConstant()))
    return fail(nullptr);
  if (dense.isSplat())
    return addSplat(dense.getElementType(), dense.getSplatValue<Attribute>());
  return addSplat(dense.getElementType(), dense.getValues<Attribute>()[position.offset]);
}

NestBuilder::Result NestBuilder::visitOp(Operation *op, Value value, const Affine &position) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return visitConstant(constant, position);
  if (isa<ViewOpInterface>(op))
    return visitView(op, position);
  if (isa<ReductionOpInterface>(op))
    return visitReduction(op, position);
  if (isa<RandomOpInterface>(op) && !isa<AttentionOpInterface>(op))
    return visitDraw(op, position);
  if (isa<ElementwiseOpInterface>(op))
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
  return fail(isa<AloneOpInterface>(op) ? value : Value());
}

NestBuilder::Result NestBuilder::visitCompute(Operation *op, const Affine &position) {
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands()) {
    if (tensor(operand).getShape() != tensor(op->getResult(0)).getShape())
      return fail(nullptr);
    Result input = visit(operand, position);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  Type type = elementOf(tensor(op->getResult(0)).getElementType());
  return insert(Operation::create(op->getLoc(), op->getName(), type, inputs, NamedAttrList(),
                                  op->getPropertiesStorage()));
}

NestBuilder::Result NestBuilder::visitDraw(Operation *op, const Affine &position) {
  auto random = cast<RandomOpInterface>(op);
  if (!random.getSeedOperand() || !random.getStreamNumber())
    return fail(nullptr);
  auto global =
      follow(position, random.getDrawnShape(), rowMajorStrides(random.getDrawnGlobalShape()));
  // Lanes draw at equal distances, not at computed places.
  bool isComputed = global && llvm::any_of(global->terms, [&](auto term) {
                      Value index = symbols[term.first].value;
                      return index && index.getDefiningOp<PositionOp>();
                    });
  if (!global || isComputed)
    return fail(op->getResult(0));
  Value stream = addRead(b.getI64Type(), {BufferSlot::Stream, *random.getStreamNumber(), 0}, {});
  SmallVector<std::pair<Value, Affine>> inputs = {{random.getSeedOperand(), {}},
                                                  {random.getOffsetOperand(), {}}};
  DenseI64ArrayAttr shape;
  if (Value origin = random.getOriginOperand()) {
    shape = b.getDenseI64ArrayAttr(random.getDrawnGlobalShape());
    for (int64_t d = 0; d < tensor(origin).getDimSize(0); ++d)
      inputs.push_back({origin, Affine::constant(d)});
  }
  auto dropout = dyn_cast<DropoutOp>(op);
  if (dropout)
    inputs.push_back({dropout.getOperand(), position});
  SmallVector<Value> read;
  for (auto &[value, at] : inputs) {
    Result input = visit(value, at);
    if (failed(input))
      return failure();
    read.push_back(*input);
  }
  IRMapping mapping;
  if (dropout)
    mapping.map(dropout.getOperand(), read.pop_back_val());
  Operation *element = op->clone(mapping);
  element->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  cast<RandomOpInterface>(element).dropState();
  element->getResult(0).setType(elementOf(tensor(op->getResult(0)).getElementType()));
  Place place = placeOf(*global);
  auto draw =
      DrawOp::create(b, location, element->getResult(0).getType(), stream, read[0], read[1],
                     ArrayRef(read).drop_front(2), place.indices(), place.coefficients(), shape);
  draw.getBody().emplaceBlock().push_back(element);
  return insert(draw);
}

OwningOpRef<KernelOp> KernelWriter::take() {
  kernel->setSlots(spellSlots(nest.buffers));
  return std::move(kernel);
}

void NestBuilder::apply(Split split, Shape &shape, Grains &grains) const {
  const Symbol &symbol = symbols[split.symbol];
  if (!symbol.op)
    return shape.split(split.symbol, split.divisor);
  int64_t &grain = grains.try_emplace({symbol.op, symbol.group}, 1).first->second;
  grain *= split.divisor;
}

FailureOr<OwningOpRef<KernelOp>> buildNest(Shape shape, ArrayRef<Root> roots, const Leaves &leaves,
                                           Obstacle &obstacle) {
  NestBuilder::Grains grains;
  while (true) {
    NestBuilder builder(roots.front().value.getLoc(), shape, leaves, grains);
    if (llvm::all_of(roots, [&](const Root &root) { return succeeded(builder.addRoot(root)); }))
      return builder.take();
    if (!builder.split) {
      obstacle = builder.obstacle;
      return failure();
    }
    builder.apply(*builder.split, shape, grains);
  }
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
