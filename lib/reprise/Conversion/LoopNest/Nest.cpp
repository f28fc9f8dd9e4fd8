// reprise: a kernel of the dialect nest, and what follows from its ops
#include "Nest.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace reprise::nests {

Nest::Nest(KernelOp kernel)
    : kernel(kernel), shape(kernel.getShape()), buffers(kernel.getBuffers()) {
  for (size_t i = 0; i < shape.factors().size(); ++i)
    addIndex(loop(i), {});
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto sequence = dyn_cast<SequenceOp>(op))
      for (Value step : sequence.getBody().getArguments())
        addIndex(step, {});
  });
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<DrawOp>(op->getParentOp()))
      add(op);
  });
}

void Nest::add(Operation *op) {
  if (auto root = dyn_cast<StoreOp>(op))
    roots.push_back(root);
  else if (auto position = dyn_cast<PositionOp>(op))
    addIndex(position, position.getElement());
  else if (auto quotient = dyn_cast<QuotientOp>(op))
    addIndex(quotient, quotient.getIndices());
  else if (!isa<YieldOp>(op))
    addElement(op);
}

void Nest::addIndex(Value index, ValueRange from) {
  Facts made;
  for (Value value : from) {
    const Facts &other = facts.find(value)->second;
    made.varies |= other.varies;
    made.stage = std::max(made.stage, other.stage);
  }
  if (from.empty() && isa<BlockArgument>(index)) {
    made.varies.resize(indices + 1);
    made.varies.set(indices++);
  }
  made.level = levelOf(made.varies);
  facts[index] = std::move(made);
}

Level Nest::levelOf(const llvm::SmallBitVector &varies) const {
  Level level = Level::Kernel;
  size_t columns = shape.firstColumn(), end = columns + shape.columns.size();
  for (unsigned index : varies.set_bits())
    level = std::max(level, index < columns ? Level::Row
                            : index < end   ? Level::Column
                                            : Level::Inner);
  return level;
}

Level Nest::levelOf(const Place &place) const {
  Level level = Level::Kernel;
  for (auto [index, coefficient] : place.terms)
    level = std::max(level, levelOf(index));
  return level;
}

bool Nest::varies(const Place &place, Value loop) const {
  const llvm::SmallBitVector &own = facts.find(loop)->second.varies;
  return llvm::any_of(
      place.terms, [&](auto term) { return facts.find(term.first)->second.varies.anyCommon(own); });
}

std::optional<size_t> Nest::loopNumber(Value index) const {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument || argument.getOwner() != &kernel.getBlock())
    return std::nullopt;
  return argument.getArgNumber();
}

/// The place over the first loops.
static Place placeOf(const Nest &nest, ArrayRef<int64_t> factors, ArrayRef<int64_t> strides) {
  Place place;
  for (auto [i, stride] : llvm::enumerate(strides))
    if (factors[i] != 1 && stride != 0)
      place.terms.push_back({nest.loop(i), stride});
  return place;
}

Place Nest::position() const {
  SmallVector<int64_t> factors = shape.factors();
  return placeOf(*this, factors, shape.strides.empty() ? rowMajorStrides(factors) : shape.strides);
}

Place Nest::rowPosition() const {
  SmallVector<int64_t> factors = shape.factors();
  factors.truncate(shape.firstColumn());
  return placeOf(*this, factors, rowMajorStrides(factors));
}

//===-- Elements ---------------------------------------------------------------------------===//

SmallVector<Value> operandsOf(Operation *op) {
  if (auto sequence = dyn_cast<SequenceOp>(op))
    return {sequence.getElement()};
  SmallVector<Value> elements;
  llvm::copy_if(op->getOperands(), std::back_inserter(elements),
                [](Value operand) { return isElement(operand.getType()); });
  if (auto draw = dyn_cast<DrawOp>(op); draw && draw.getElement())
    elements.push_back(draw.getElement());
  return elements;
}

static void addIndexInputs(Operation *op, SmallVector<Value> &inputs) {
  for (Value operand : op->getOperands()) {
    if (auto position = operand.getDefiningOp<PositionOp>())
      inputs.push_back(position.getElement());
    else if (auto quotient = operand.getDefiningOp<QuotientOp>())
      addIndexInputs(quotient, inputs);
  }
}

SmallVector<Value> indexInputsOf(Value element) {
  SmallVector<Value> inputs;
  addIndexInputs(element.getDefiningOp(), inputs);
  return inputs;
}

SmallVector<Value> inputsOf(Value element) {
  SmallVector<Value> inputs = operandsOf(element.getDefiningOp());
  addIndexInputs(element.getDefiningOp(), inputs);
  return inputs;
}

/// About the instructions of an op itself, for one element.
static int64_t ownCost(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<NumberOp, ReduceOp>([](auto) { return 0; })
      .Case([](DrawOp) { return 30; })
      .Case([](MeetOp meet) { return static_cast<int64_t>(meet.getParts()); })
      .Case([](CostOpInterface arithmetic) {
        return arithmetic->hasTrait<OpTrait::ConstantLike>()
                   ? 0
                   : std::max<int64_t>(arithmetic.getFlops(), 1);
      })
      .Default([](Operation *) { return 1; });
}

Nest::Facts Nest::factsOf(Operation *op) const {
  // Shared operands count each time, which must not overflow.
  constexpr int64_t mostCost = 1 << 20;
  Facts made;
  made.cost = ownCost(op);
  for (Value operand : op->getOperands())
    if (operand.getType().isIndex()) {
      const Facts &index = facts.find(operand)->second;
      made.varies |= index.varies;
      made.stage = std::max(made.stage, index.stage);
    }
  for (Value operand : operandsOf(op)) {
    const Facts &input = facts.find(operand)->second;
    made.varies |= input.varies;
    made.stage = std::max(made.stage, input.stage);
    made.floor = std::max(made.floor, input.floor);
    // What a row computes once is free.
    if (input.level >= Level::Column)
      made.cost = std::min(made.cost + input.cost, mostCost);
  }
  return made;
}

void Nest::addElement(Operation *op) {
  Facts made = factsOf(op);
  if (auto sequence = dyn_cast<SequenceOp>(op))
    for (auto [step, size] :
         llvm::zip_equal(sequence.getBody().getArguments(), sequence.getSizes())) {
      made.varies.reset(facts.find(step)->second.varies);
      made.cost *= size;
    }
  if (isa<ReduceOp>(op)) {
    ++made.stage;
    for (size_t i = shape.firstColumn(); i < shape.factors().size() && i < made.varies.size(); ++i)
      made.varies.reset(i);
  }
  if (isa<ReduceOp, MeetOp>(op))
    made.floor = Level::Row;
  // A block's element is at hand within its row only, even if it is the only one.
  if (isa<TileOp>(op)) {
    made.floor = Level::Column;
    for (auto [index, stride] : position().terms)
      made.varies |= facts.find(index)->second.varies;
  }
  made.level = std::max(made.floor, levelOf(made.varies));
  elements.push_back(op->getResult(0));
  facts[op->getResult(0)] = std::move(made);
}

} // namespace reprise::nests
