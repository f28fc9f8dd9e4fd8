// reprise: random training steps of layers, whose parameters are cut for parts of a model
#include "ShardGenerator.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::fuzz {

static int64_t lastOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().back();
}

static SmallVector<int64_t> allDims(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
}

ShardGenerator::ShardGenerator(MLIRContext *context, uint64_t seed) : v(context, seed) {
  type = v.random.chance(55) ? Type(v.b.getF32Type()) : v.element;
  batch = v.random.chance(60) ? 4 : v.random.within(2, 9);
  length = v.random.chance(70) ? 8 : v.random.within(1, 9);
  width = v.random.chance(85) ? 8 * v.random.within(1, 4) : v.random.within(2, 20);
}

Value ShardGenerator::addParameter(const Shape &shape) {
  Block &block = v.function.getBody().front();
  parameters.push_back(block.getNumArguments());
  return block.addArgument(tensor(shape, type), v.b.getLoc());
}

OwningOpRef<ModuleOp> ShardGenerator::run() {
  module = ModuleOp::create(v.b.getLoc());
  v.b.setInsertionPointToEnd(module->getBody());
  v.function = func::FuncOp::create(v.b, "f", v.b.getFunctionType({}, {}));
  Block *block = v.function.addEntryBlock();
  v.b.setInsertionPointToEnd(block);
  batchInputs.push_back(0);
  Value value = block->addArgument(tensor({batch, length, width}, type), v.b.getLoc());
  for (int64_t i = v.random.within(1, 4); i > 0; --i) {
    Value next = emitLayer(value);
    value = v.random.chance(60) ? v.emit("add", value.getType(), {value, next}) : next;
  }
  value = emitLoss(value);
  func::ReturnOp::create(v.b, value);
  func::FuncOp loss = v.function;
  loss.setPrivate();
  loss.setType(v.b.getFunctionType(block->getArgumentTypes(), value.getType()));
  emitStep(loss);
  nameArguments(v.function);
  return std::move(module);
}

//===-- Layers --------------------------------------------------------------------------------===//

Value ShardGenerator::emitLayer(Value value) {
  switch (v.random.below(14)) {
  case 0:
  case 1:
  case 2:
    return emitMlp(value);
  case 3:
  case 4:
    return emitHeads(value);
  case 5:
  case 6:
    return emitExperts(value);
  case 7:
    return emitNorm(value);
  case 8:
    return emitTable(value);
  case 9:
    return emitReduced(value);
  case 10:
    return emitTied(value);
  case 11:
    return emitMoved(value);
  default:
    return emitLoop(value);
  }
}

Value ShardGenerator::activate(Value value) {
  static constexpr StringLiteral names[] = {"relu", "gelu", "silu", "tanh", "sigmoid", "exp"};
  if (v.random.chance(15))
    value = v.emit("dropout", value.getType(), value, {v.real("rate", 0.25)}, {1, 0, 0, 0});
  if (v.random.chance(12))
    value = v.emit(v.random.chance(50) ? "softmax" : "log_softmax", value.getType(), value);
  return v.random.chance(80) ? v.emit(v.random.pick(names), value.getType(), value) : value;
}

/// Contracts the last dimension of a value with a parameter whose dimensions stand in a random
/// order, and adds a bias by chance.
Value ShardGenerator::project(Value value, const Shape &to, Value weight) {
  auto own = cast<RankedTensorType>(value.getType());
  bool isFlipped = !weight && to.size() == 1 && v.random.chance(30);
  Shape shape{lastOf(value)};
  shape.append(to);
  if (isFlipped)
    std::reverse(shape.begin(), shape.end());
  if (!weight)
    weight = addParameter(shape);
  Shape result(own.getShape().drop_back());
  result.append(to);
  value = v.emit("dot_general", tensor(result, type), {value, weight},
                 {v.numbers("lhs_batch", {}), v.numbers("rhs_batch", {}),
                  v.numbers("lhs_contracting", {own.getRank() - 1}),
                  v.numbers("rhs_contracting", {isFlipped ? 1 : 0})});
  if (v.random.chance(40))
    value = v.emit("add", value.getType(),
                   {value, v.emit("broadcast", value.getType(), addParameter(to),
                                  {v.numbers("dims", llvm::to_vector(llvm::seq<int64_t>(
                                                         own.getRank() - 1, result.size())))})});
  return value;
}

/// Emits contractions of which rules may cut one twice, or two that follow each other.
Value ShardGenerator::emitMlp(Value value) {
  int64_t hidden = v.random.chance(85) ? 8 * v.random.within(1, 6) : v.random.within(1, 20);
  Value up = activate(project(value, {hidden}));
  if (v.random.chance(30))
    up = v.emit("mul", up.getType(), {up, project(value, {hidden})});
  return project(up, {width});
}

Value ShardGenerator::emitHeads(Value value) {
  int64_t heads = v.random.chance(80) ? 8 : v.random.within(1, 6),
          depth = v.random.pick(ArrayRef<int64_t>{2, 4, 8});
  int64_t groups = v.random.chance(25) && heads % 2 == 0 ? heads / 2 : heads;
  auto split = [&](int64_t count) {
    Value split = project(value, {count, depth});
    return v.emit("transpose", tensor({batch, count, length, depth}, type), split,
                  {v.numbers("permutation", {0, 2, 1, 3})});
  };
  SmallVector<Value> operands = {split(heads), split(groups), split(groups)};
  KernelValues::Attributes attributes = {v.real("scale", 0.5),
                                         v.real("rate", v.random.chance(30) ? 0.25 : 0)};
  if (v.random.chance(50))
    attributes.push_back(v.b.getNamedAttr("causal", v.b.getUnitAttr()));
  Value out = v.emit("attention",
                     {tensor({batch, heads, length, depth}, type),
                      tensor({batch, heads, length}, computeType(type))},
                     operands, attributes, {1, 1, 1, 0, 0, 0, 0, 0});
  Value weight = addParameter({heads, depth, width});
  return v.emit("dot_general", tensor({batch, length, width}, type), {out, weight},
                {v.numbers("lhs_batch", {}), v.numbers("rhs_batch", {}),
                 v.numbers("lhs_contracting", {1, 3}), v.numbers("rhs_contracting", {0, 1})});
}

/// Emits a batch of contractions, one per expert.
Value ShardGenerator::emitExperts(Value value) {
  int64_t experts = v.random.chance(80) ? 8 : v.random.within(1, 5),
          hidden = 8 * v.random.within(1, 2);
  Value spread = v.emit("broadcast", tensor({experts, batch, length, width}, type), value,
                        {v.numbers("dims", {1, 2, 3})});
  auto contract = [&](Value of, int64_t from, int64_t to) {
    return v.emit("dot_general", tensor({experts, batch, length, to}, type),
                  {of, addParameter({experts, from, to})},
                  {v.numbers("lhs_batch", {0}), v.numbers("rhs_batch", {0}),
                   v.numbers("lhs_contracting", {3}), v.numbers("rhs_contracting", {1})});
  };
  Value own = contract(activate(contract(spread, width, hidden)), hidden, width);
  StringRef join = v.random.chance(70) ? "sum" : v.random.chance(50) ? "mean" : "max";
  return v.emit(join, value.getType(), own, {v.numbers("dims", {0})});
}

Value ShardGenerator::emitNorm(Value value) {
  auto statistics = tensor({batch, length}, computeType(type));
  KernelValues::Attributes epsilon = {v.real("epsilon", 1e-5)};
  Value weight = addParameter({width});
  if (v.random.chance(50))
    return v.emit("rms_norm", {value.getType(), statistics}, {value, weight}, epsilon);
  return v.emit("layer_norm", {value.getType(), statistics, statistics},
                {value, weight, addParameter({width})}, epsilon);
}

/// Gathers rows of a table, and adds them to the value.
Value ShardGenerator::emitTable(Value value) {
  int64_t rows = v.random.chance(70) ? 8 * v.random.within(1, 3) : v.random.within(2, 20);
  Block &block = v.function.getBody().front();
  bool isOfBatch = v.random.chance(70);
  Value table = addParameter({rows, width});
  if (isOfBatch)
    batchInputs.push_back(block.getNumArguments());
  v.indexLimits.resize(block.getNumArguments());
  v.indexLimits.push_back(rows);
  Shape at = isOfBatch ? Shape{batch, length} : Shape{length};
  Value index = block.addArgument(tensor(at, v.b.getI32Type()), v.b.getLoc());
  at.push_back(width);
  Value found = v.emit("gather", tensor(at, type), {table, index});
  if (!isOfBatch)
    found = v.emit("broadcast", value.getType(), found, {v.numbers("dims", {1, 2})});
  return v.emit(v.random.chance(50) ? "add" : "mul", value.getType(), {value, found});
}

/// Reduces a dimension that may be cut, and spreads the result again.
Value ShardGenerator::emitReduced(Value value) {
  static constexpr StringLiteral names[] = {"sum", "mean", "max", "logsumexp"};
  int64_t hidden = 8 * v.random.within(1, 4);
  Value up = activate(project(value, {hidden}));
  Value row =
      v.emit(v.random.pick(names), tensor({batch, length}, type), up, {v.numbers("dims", {2})});
  Value spread = v.emit("broadcast", value.getType(), row, {v.numbers("dims", {0, 1})});
  return v.emit("mul", value.getType(), {value, spread});
}

/// Emits two contractions with one parameter, which the second one reads transposed.
Value ShardGenerator::emitTied(Value value) {
  int64_t hidden = v.random.chance(50) ? width : 8 * v.random.within(1, 4);
  Value weight = addParameter({width, hidden});
  Value up = activate(project(value, {hidden}, weight));
  Value back = v.emit("transpose", tensor({hidden, width}, type), weight,
                      {v.numbers("permutation", {1, 0})});
  return project(up, {width}, back);
}

/// Moves values that may be cut: swaps halves, reshapes, transposes.
Value ShardGenerator::emitMoved(Value value) {
  int64_t hidden = 8 * v.random.within(1, 4);
  Value up = project(value, {hidden});
  auto slice = [&](int64_t from, int64_t to) {
    return v.emit("slice", tensor({batch, length, to - from}, type), up,
                  {v.numbers("starts", {0, 0, from}), v.numbers("limits", {batch, length, to}),
                   v.numbers("strides", {1, 1, 1})});
  };
  if (v.random.chance(50))
    up = v.emit("concatenate", up.getType(), {slice(hidden / 2, hidden), slice(0, hidden / 2)},
                {v.number("dim", 2)});
  if (v.random.chance(50)) {
    up = v.emit("reshape", tensor({batch, length, 2, hidden / 2}, type), up);
    up = v.emit("transpose", tensor({batch, length, hidden / 2, 2}, type), up,
                {v.numbers("permutation", {0, 1, 3, 2})});
    up = v.emit("reshape", tensor({batch, length, hidden}, type), activate(up));
  }
  return project(up, {width});
}

/// Emits a loop over stacked parameters, which the model axis unrolls.
Value ShardGenerator::emitLoop(Value value) {
  int64_t trip = v.random.within(1, 3), hidden = 8 * v.random.within(1, 3);
  SmallVector<Value> stacks = {addParameter({trip, width, hidden}),
                               addParameter({trip, hidden, width})};
  auto *block = new Block();
  block->addArgument(value.getType(), v.b.getLoc());
  for (Value stack : stacks)
    block->addArgument(
        tensor(cast<RankedTensorType>(stack.getType()).getShape().drop_front(), type),
        v.b.getLoc());
  {
    OpBuilder::InsertionGuard guard(v.b);
    v.b.setInsertionPointToEnd(block);
    Value inner = block->getArgument(0);
    for (unsigned i : {1, 2}) {
      Value weight = block->getArgument(i);
      Shape shape{batch, length, lastOf(weight)};
      inner = v.emit("dot_general", tensor(shape, type), {inner, weight},
                     {v.numbers("lhs_batch", {}), v.numbers("rhs_batch", {}),
                      v.numbers("lhs_contracting", {2}), v.numbers("rhs_contracting", {0})});
      inner =
          i == 1 ? activate(inner) : v.emit("add", inner.getType(), {inner, block->getArgument(0)});
    }
    YieldOp::create(v.b, v.b.getLoc(), inner);
  }
  LoopOp loop = LoopOp::create(v.b, v.b.getLoc(), trip, ValueRange(value), stacks,
                               TypeRange(value.getType()), /*reverse=*/v.random.chance(20));
  loop.getBlock().erase();
  loop.getBody().push_back(block);
  return loop.getResult(0);
}

//===-- The step ------------------------------------------------------------------------------===//

Value ShardGenerator::emitLoss(Value value) {
  if (v.random.chance(50)) {
    int64_t classes = 8 * v.random.within(1, 3);
    value = project(value, {classes});
    Block &block = v.function.getBody().front();
    v.indexLimits.resize(block.getNumArguments());
    v.indexLimits.push_back(classes);
    batchInputs.push_back(block.getNumArguments());
    Value labels = block.addArgument(tensor({batch, length}, v.b.getI32Type()), v.b.getLoc());
    value = v.emit("cross_entropy", tensor({batch, length}, type), {value, labels});
  } else {
    value = v.emit("mul", value.getType(), {value, value});
  }
  return v.emit(v.random.chance(70) ? "mean" : "sum", tensor({}, type), value,
                {v.numbers("dims", allDims(value))});
}

/// Adds the squares of all gradients to a number.
Value ShardGenerator::addNorm(ValueRange gradients, Value sum) {
  for (Value gradient : gradients) {
    Value square = v.emit("mul", gradient.getType(), {gradient, gradient});
    Value own = v.emit("sum", sum.getType(), square, {v.numbers("dims", allDims(square))});
    sum = v.emit("add", sum.getType(), {sum, own});
  }
  return sum;
}

/// Emits gradients and updates: plain, with momentum, or scaled by the norm of all gradients.
void ShardGenerator::emitStep(func::FuncOp loss) {
  v.b.setInsertionPointToEnd(module->getBody());
  auto entry = func::FuncOp::create(v.b, "train", v.b.getFunctionType(loss.getArgumentTypes(), {}));
  Block *block = entry.addEntryBlock();
  v.function = entry;
  v.b.setInsertionPointToEnd(block);
  SmallVector<int64_t> wrt(parameters.begin(), parameters.end());
  SmallVector<Type> types = {tensor({}, type)};
  for (int64_t argument : wrt)
    types.push_back(loss.getArgumentTypes()[argument]);
  auto gradients = ValueAndGradOp::create(v.b, types, FlatSymbolRefAttr::get(loss),
                                          block->getArguments(), wrt, ArrayRef<int64_t>{0});
  int64_t kind = v.random.below(10);
  Value scale = block->addArgument(tensor({}, type), v.b.getLoc());
  if (kind < 2)
    scale = addNorm(gradients.getResults().drop_front(), scale);
  SmallVector<Value> results = {gradients.getResult(0)};
  SmallVector<std::string> names = {"loss"};
  auto add = [&](Value argument, Value next) {
    results.push_back(next);
    names.push_back("a" + std::to_string(cast<BlockArgument>(argument).getArgNumber()));
  };
  for (auto [argument, gradient] : llvm::zip(wrt, gradients.getResults().drop_front())) {
    Value parameter = block->getArgument(argument), step = gradient;
    if (kind > 6) {
      Value state = block->addArgument(gradient.getType(), v.b.getLoc());
      step = v.emit("add", gradient.getType(), {state, gradient});
      add(state, step);
    }
    Value factor = v.emit("broadcast", gradient.getType(), scale, {v.numbers("dims", {})});
    add(parameter, v.emit("sub", gradient.getType(),
                          {parameter, v.emit("mul", gradient.getType(), {step, factor})}));
  }
  func::ReturnOp::create(v.b, results);
  entry.setType(v.b.getFunctionType(block->getArgumentTypes(), TypeRange(ValueRange(results))));
  for (auto [i, name] : llvm::enumerate(names))
    entry.setResultAttr(i, EntrySignature::kName, v.b.getStringAttr(name));
}

void ShardGenerator::nameArguments(func::FuncOp entry) {
  v.indexLimits.resize(entry.getNumArguments());
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    bool isParameter = llvm::is_contained(parameters, i);
    Attribute init =
        NormalInitAttr::get(v.context, v.b.getF64FloatAttr(0), v.b.getF64FloatAttr(0.25));
    if (v.indexLimits[i])
      init = UniformIntInitAttr::get(v.context, 0, v.indexLimits[i]);
    entry.setArgAttr(i, EntrySignature::kName, v.b.getStringAttr("a" + std::to_string(i)));
    bool isInput =
        !isParameter && (i == 0 || llvm::is_contained(batchInputs, i) || v.indexLimits[i]);
    entry.setArgAttr(i, EntrySignature::kRole,
                     v.b.getStringAttr(isParameter ? "parameter"
                                       : isInput   ? "input"
                                                   : "state"));
    entry.setArgAttr(i, EntrySignature::kInit, init);
    if (llvm::is_contained(batchInputs, i))
      entry.setArgAttr(i, EntrySignature::kBatchDim, v.b.getI64IntegerAttr(0));
  }
}

//===-- Shardings -----------------------------------------------------------------------------===//

void drawShards(ModuleOp module, uint64_t seed) {
  // Random labels may contradict each other, and then refuse the program.
  module.walk([](Operation *op) {
    op->removeAttr("reprise.label");
    if (isa<PolicyOp>(op))
      op->erase();
  });
  auto entry = module.lookupSymbol<func::FuncOp>("train");
  Random random(seed ^ 0x5eed);
  Builder b(module.getContext());
  int share = random.within(15, 95);
  for (auto [number, type] : llvm::enumerate(entry.getArgumentTypes())) {
    auto own = cast<RankedTensorType>(type);
    auto name = entry.getArgAttrOfType<StringAttr>(number, EntrySignature::kName);
    if (!name || own.getRank() == 0 || !isa<FloatType>(own.getElementType()) ||
        !random.chance(share) || entry.getArgAttr(number, EntrySignature::kBatchDim))
      continue;
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < own.getRank(); ++dim)
      if (own.getDimSize(dim) % 8 == 0 || random.chance(8))
        dims.push_back(dim);
    if (dims.empty())
      continue;
    auto cut = b.getStringAttr(name.getValue() + ".cut" + std::to_string(random.pick(dims)));
    entry.setArgAttr(number, EntrySignature::kName, cut);
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (entry.getResultAttr(i, EntrySignature::kName) == name)
        entry.setResultAttr(i, EntrySignature::kName, cut);
  }
}

} // namespace reprise::fuzz
