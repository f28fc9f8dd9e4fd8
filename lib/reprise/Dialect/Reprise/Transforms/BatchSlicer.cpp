// reprise: builds the body of a step that runs one micro-batch after the other
#include "BatchSlicer.h"

#include "RandomWindow.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace reprise;

static bool isNarrow(Type type) {
  auto element = cast<RankedTensorType>(type).getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

/// A constant of floats that are all equal.
static Value makeSplat(OpBuilder &builder, Location loc, RankedTensorType type, double value) {
  Attribute element = builder.getFloatAttr(type.getElementType(), value);
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
}

BatchSlicer::BatchSlicer(ProgramOp step, const BatchStates &states, Lanes lanes)
    : step(step), states(states), old(&step.getBody().front()), builder(step.getContext()),
      marks([this](NamedAttrList &attributes) { mark(attributes); }), lanes(lanes) {
  for (Operation &op : *old) {
    hasStages |= op.hasAttr(kStageAttr);
    if (auto path = op.getAttrOfType<DenseI64ArrayAttr>(kBlockAttr))
      for (int64_t id : path.asArrayRef())
        numUnits = std::max(numUnits, id + 1);
  }
}

void BatchSlicer::run() {
  Block *block = new Block();
  for (BlockArgument argument : old->getArguments()) {
    whole.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    if (states.get(argument).kind == BatchState::Own)
      handed[argument] = whole.lookup(argument);
  }
  step.getBody().push_back(block);
  builder.setInsertionPointToEnd(block);
  cloneKnown(BatchState::Whole);
  for (int64_t number = 0; number < lanes.microbatches; ++number)
    runPart({number, lanes.firstSample(number), lanes.firstSample(number + 1)});
  for (Operation &op : old->without_terminator())
    for (Value result : op.getResults())
      if (std::optional<Value> total = totals.lookup(result).get())
        whole.map(result, finish(&op, *total, result.getType()));
  cloneKnown(BatchState::Total);
  returnResults();
  old->dropAllReferences();
  old->dropAllDefinedValueUses();
  old->erase();
}

void BatchSlicer::cloneKnown(BatchState::Kind kind) {
  for (Operation &op : old->without_terminator()) {
    if (states.isCut(&op) || op.getNumResults() == 0 || states.get(op.getResult(0)).kind != kind)
      continue;
    for (Value operand : op.getOperands())
      makeWhole(operand);
    builder.clone(op, whole);
  }
}

void BatchSlicer::makeWhole(Value value) {
  if (whole.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    makeWhole(operand);
  builder.clone(*op, whole);
}

void BatchSlicer::runPart(MicroBatch range) {
  part = range;
  own.clear();
  windows.clear();
  marks.clear();
  for (BlockArgument argument : old->getArguments()) {
    BatchState state = states.get(argument);
    if (state.kind == BatchState::Own)
      own[argument] = handed[argument];
  }
  for (Operation &op : old->without_terminator())
    if (states.isCut(&op))
      runOn(&op);
  handOver();
}

void BatchSlicer::runOn(Operation *op) {
  if (auto loop = dyn_cast<LoopOp>(op))
    return runLoop(loop);
  const BatchCut &cut = *states.getCut(op);
  if (cut.isGroupMean) {
    own[op->getResult(0)] = divideByGroup(cast<DivOp>(op));
    return;
  }
  if (auto statistics = dyn_cast<BatchStatisticsOp>(op); statistics && cut.factor < 0)
    return statistics.getDeferred() ? mergeStatistics(statistics) : cutStatistics(statistics);
  SmallVector<Value> operands = getOperands(op, cut);
  if (cut.isReduced())
    return addTo(op, cut, operands);
  Operation *clone = cloneOn(op, operands, cut);
  for (auto [result, made] : llvm::zip(op->getResults(), clone->getResults()))
    own[result] = made;
}

Operation *BatchSlicer::cloneOn(Operation *op, ValueRange operands, const BatchCut &cut) {
  Operation *clone = cut.factor < 0 ? builder.clone(*op)
                                    : cloneOnPart(builder, op, operands, cut.factors, cut.factor,
                                                  cut.each * part.size());
  clone->setOperands(operands);
  mark(clone);
  if (auto random = dyn_cast<RandomOpInterface>(clone);
      random && random.draws() && cut.factor >= 0) {
    const auto &dims = cut.factors.results[0];
    int64_t dim = OpFactors::findDim(dims, cut.factor);
    moveWindow(builder, random, dim, part.begin * cut.countRows(dims[dim]));
  }
  return clone;
}

void BatchSlicer::mark(NamedAttrList &attributes) {
  if (hasStages)
    attributes.set(kMicrobatchAttr, builder.getI64IntegerAttr(part.number));
  auto path = dyn_cast_or_null<DenseI64ArrayAttr>(attributes.get(kBlockAttr));
  if (!path)
    return;
  SmallVector<int64_t> ids = llvm::map_to_vector(
      path.asArrayRef(), [&](int64_t id) { return id + part.number * numUnits; });
  attributes.set(kBlockAttr, builder.getDenseI64ArrayAttr(ids));
}

void BatchSlicer::markSum(Operation *op) {
  if (hasStages)
    op->setAttr(kBatchSumAttr, builder.getUnitAttr());
}

SmallVector<Value> BatchSlicer::getOperands(Operation *op, const BatchCut &cut) {
  SmallVector<Value> operands;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), cut.factors.operands)) {
    int64_t dim = cut.factor < 0 ? -1 : OpFactors::findDim(dims, cut.factor);
    operands.push_back(getPart(operand, dim, dim < 0 ? 0 : cut.countRows(dims[dim])));
  }
  return operands;
}

/// The iterations of the samples at hand.
static int64_t getTrip(const BatchStates &states, LoopOp loop, const MicroBatch &part) {
  int64_t trip = loop.getTrip();
  return states.isAlongBatch(loop) ? trip / states.getBatch() * part.size() : trip;
}

static SmallVector<Type> getResultTypes(const BatchStates &states, LoopOp loop,
                                        ArrayRef<Value> inits, const MicroBatch &part) {
  SmallVector<Type> types = llvm::map_to_vector(inits, [](Value v) { return v.getType(); });
  for (auto [stack, row] :
       llvm::zip(loop.getStacks(), loop.getYield()->getOperands().drop_front(inits.size()))) {
    auto type = cast<RankedTensorType>(stack.getType());
    SmallVector<int64_t> shape(type.getShape());
    BatchState state = states.get(row);
    if (state.kind == BatchState::Rows)
      shape[state.dim + 1] = state.rows * part.size();
    shape[0] = getTrip(states, loop, part);
    types.push_back(type.clone(shape));
  }
  return types;
}

void BatchSlicer::runLoop(LoopOp loop) {
  SmallVector<Value> inits, xs;
  for (auto [number, init] : llvm::enumerate(loop.getInits()))
    inits.push_back(getInit(loop, number));
  for (auto [slice, stack] : llvm::zip(loop.getSliceArguments(), loop.getXs())) {
    BatchState state = states.get(slice);
    if (states.isAlongBatch(loop))
      state = {BatchState::Rows, -1, static_cast<int64_t>(loop.getTrip()) / states.getBatch()};
    bool isCut = state.kind == BatchState::Rows;
    xs.push_back(getPart(stack, isCut ? state.dim + 1 : -1, state.rows));
  }
  auto made = LoopOp::create(builder, loop.getLoc(), getTrip(states, loop, part), inits, xs,
                             getResultTypes(states, loop, inits, part), loop.getReverse());
  made.setReplay(loop.getReplay());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  mark(made);
  fillBody(loop, made);
  for (auto [number, result, value] : llvm::enumerate(loop.getResults(), made.getResults())) {
    if (states.get(result).kind != BatchState::Total)
      own[result] = value;
    else if (static_cast<int64_t>(number) < loop.getNumCarries())
      totals[result].replace(lanes, value, makeAdder(loop)); // already includes the total so far
    else
      totals[result].add(lanes, value, makeAdder(loop));
  }
}

Value BatchSlicer::getInit(LoopOp loop, unsigned number) {
  BatchState state = states.get(loop.getCarryArguments()[number]);
  bool isTotal = state.kind == BatchState::Part &&
                 states.get(loop.getResult(number)).kind == BatchState::Total;
  if (isTotal && part.number > 0) {
    if (std::optional<Value> total = totals.lookup(loop.getResult(number)).get())
      return *total;
    Attribute zero = builder.getZeroAttr(loop.getInits()[number].getType());
    return ConstantOp::create(builder, loop.getLoc(), cast<ElementsAttr>(zero));
  }
  return getPart(loop.getInits()[number], state.dim, state.rows);
}

void BatchSlicer::fillBody(LoopOp loop, LoopOp made) {
  OpBuilder::InsertionGuard guard(builder);
  auto outside = windows; // values of the body are visible only in the body
  builder.setInsertionPointToStart(&made.getBlock());
  for (auto [argument, value] :
       llvm::zip(loop.getBlock().getArguments(), made.getBlock().getArguments())) {
    if (states.get(argument).kind == BatchState::Whole)
      whole.map(argument, value);
    else
      own[argument] = value;
  }
  for (Operation &op : loop.getBlock().without_terminator()) {
    if (states.isCut(&op))
      runOn(&op);
    else
      mark(builder.clone(op, whole));
  }
  SmallVector<Value> yielded;
  for (auto [number, value] : llvm::enumerate(loop.getYield()->getOperands())) {
    bool isCarry = static_cast<int64_t>(number) < loop.getNumCarries();
    BatchState state = states.get(isCarry ? Value(loop.getCarryArguments()[number]) : value);
    yielded.push_back(getPart(value, state.dim, state.rows));
  }
  YieldOp::create(builder, loop.getYield()->getLoc(), yielded);
  windows = std::move(outside);
}

Value BatchSlicer::getPart(Value value, int64_t dim, int64_t rows) {
  Value found = own.lookup(value);
  if (found && (dim < 0 || states.get(value).kind == BatchState::Rows))
    return found;
  if (dim < 0)
    return whole.lookup(value);
  if (Value known = windows.lookup({value, dim, rows}))
    return known;
  // Computing the window may add entries to the table, so we insert by key again.
  Value window = makeWindow(value, dim, rows);
  return windows[{value, dim, rows}] = window;
}

Value BatchSlicer::makeWindow(Value value, int64_t dim, int64_t rows) {
  auto result = dyn_cast<OpResult>(value);
  auto batchable = result ? dyn_cast<BatchableOpInterface>(result.getOwner()) : nullptr;
  BatchState::Kind kind = states.get(value).kind;
  if (batchable && (kind == BatchState::Whole || kind == BatchState::Own)) {
    std::optional<BatchCut> cut = findWindow(result, dim, rows);
    if (cut && hasWindows(states, batchable, *cut)) {
      SmallVector<Value> operands = getOperands(batchable, *cut);
      return cloneOn(batchable, operands, *cut)->getResult(result.getResultNumber());
    }
  }
  return pipe::SliceOp::create(builder, value.getLoc(), whole.lookup(value), part.number,
                               lanes.microbatches, dim, rows);
}

void BatchSlicer::addTo(Operation *op, const BatchCut &cut, MutableArrayRef<Value> operands) {
  bool isWide = isNarrow(op->getResult(0).getType());
  // A contraction sums in f32 anyway. With wide operands it would leave the tensor cores.
  if (isWide && !isa<DotGeneralOp>(op))
    for (Value &operand : operands)
      if (isNarrow(operand.getType()))
        operand = create<CastOp>(
            op, cast<RankedTensorType>(operand.getType()).clone(builder.getF32Type()), operand);
  Operation *clone;
  if (auto mean = dyn_cast<MeanOp>(op)) {
    clone = create<SumOp>(op, operands[0], mean.getDims());
  } else {
    clone = cloneOn(op, operands, cut);
    if (isWide)
      for (Value result : clone->getResults())
        result.setType(cast<RankedTensorType>(result.getType()).clone(builder.getF32Type()));
  }
  markSum(clone);
  for (auto [result, made] : llvm::zip(op->getResults(), clone->getResults())) {
    own[result] = finish(op, made, result.getType());
    if (states.get(result).kind == BatchState::Total)
      totals[result].add(lanes, made, makeAdder(op));
  }
}

Value BatchSlicer::divideByGroup(DivOp op) {
  auto count = cast<DenseElementsAttr>(op.getRhs().getDefiningOp<ConstantOp>().getValue());
  double whole = count.getSplatValue<FloatAttr>().getValueAsDouble();
  double counted =
      whole * static_cast<double>(part.size()) / static_cast<double>(states.getBatch());
  return create<DivOp>(op, own.lookup(op.getLhs()),
                       makeSplat(builder, op.getLoc(), op.getRhs().getType(), counted));
}

void BatchSlicer::cutStatistics(BatchStatisticsOp op) {
  int64_t perSample = static_cast<int64_t>(op.getCount()) / states.getBatch();
  auto made = create<BatchStatisticsOp>(op, own.lookup(op.getMean()), own.lookup(op.getVariance()),
                                        perSample * part.size(), /*deferred=*/false);
  own[op.getWholeMean()] = made.getWholeMean();
  own[op.getUnbiasedVariance()] = made.getUnbiasedVariance();
}

void BatchSlicer::mergeStatistics(BatchStatisticsOp op) {
  auto add = [&](Statistics left, Statistics right, Joint joint) {
    return join(op, left, right, joint);
  };
  statistics[op].add(lanes, {own.lookup(op.getMean()), own.lookup(op.getVariance())}, add);
  if (part.end != states.getBatch())
    return;
  auto [mean, variance] = *statistics[op].get();
  auto made = create<BatchStatisticsOp>(op, mean, variance, op.getCount(), /*deferred=*/false);
  whole.map(op.getWholeMean(), mean);
  whole.map(op.getUnbiasedVariance(), made.getUnbiasedVariance());
}

/// With a and b samples, n = a + b and d = mean_b - mean_a (Chan et al. 1979):
///   mean = mean_a + d·b/n and variance = variance_a·a/n + variance_b·b/n + d²·(a·b/n²).
Statistics BatchSlicer::join(BatchStatisticsOp op, Statistics left, Statistics right, Joint joint) {
  int64_t first = lanes.firstSample(joint.first);
  double n = static_cast<double>(lanes.firstSample(joint.end) - first);
  double a = static_cast<double>(lanes.firstSample(joint.middle) - first) / n, b = 1 - a;
  auto times = [&](Value value, double factor) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    return create<MulOp>(op, value, makeSplat(builder, op.getLoc(), type, factor));
  };
  Value apart = create<SubOp>(op, right.mean, left.mean);
  Value within = create<AddOp>(op, times(left.variance, a), times(right.variance, b));
  Value variance = create<AddOp>(op, within, times(create<MulOp>(op, apart, apart), a * b));
  return {create<AddOp>(op, left.mean, times(apart, b)), variance};
}

std::function<Value(Value, Value, Joint)> BatchSlicer::makeAdder(Operation *op) {
  return [this, op](Value left, Value right, Joint joint) -> Value {
    int64_t each = lanes.each();
    Operation *sum = nullptr;
    if (int64_t middle = joint.middle / each; middle * each == joint.middle)
      sum = create<pipe::MergeOp>(op, left, right, joint.first / each, middle, joint.end / each);
    else
      sum = create<pipe::AccumulateOp>(op, left, right, joint.middle);
    markSum(sum);
    return sum->getResult(0);
  };
}

Value BatchSlicer::finish(Operation *op, Value sum, Type type) {
  if (auto mean = dyn_cast<MeanOp>(op)) {
    auto sumType = cast<RankedTensorType>(sum.getType());
    int64_t count = mean.getOperand().getType().getNumElements() / sumType.getNumElements();
    sum = create<DivOp>(op, sum,
                        makeSplat(builder, op->getLoc(), sumType, static_cast<double>(count)));
  }
  return sum.getType() == type ? sum : Value(create<CastOp>(op, type, sum));
}

void BatchSlicer::handOver() {
  EntrySignature signature(step);
  for (auto [number, value] : llvm::enumerate(old->getTerminator()->getOperands())) {
    BatchState::Kind kind = states.get(value).kind;
    if (kind == BatchState::Own)
      handed[old->getArgument(signature.getReplacedArguments()[number])] = own.lookup(value);
    else if (kind == BatchState::Rows && !isa<BlockArgument>(value))
      collected[number].push_back(own.lookup(value));
  }
}

void BatchSlicer::returnResults() {
  EntrySignature signature(step);
  SmallVector<Value> results;
  for (auto [number, value] : llvm::enumerate(old->getTerminator()->getOperands())) {
    BatchState state = states.get(value);
    if (state.kind == BatchState::Own)
      results.push_back(handed[old->getArgument(signature.getReplacedArguments()[number])]);
    else if (state.kind == BatchState::Rows && !isa<BlockArgument>(value))
      results.push_back(ConcatenateOp::create(builder, value.getLoc(), value.getType(),
                                              collected[number], state.dim));
    else
      results.push_back(whole.lookup(value));
  }
  ReturnOp::create(builder, old->getTerminator()->getLoc(), results);
}
