// reprise: blocks, gradients and functions of random programs
#include "Generator.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Policy/Policy.h"

using namespace mlir;

namespace reprise::fuzz {

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

//===-- Regions that read from above ----------------------------------------------------------===//

/// Emits a block or a checkpoint: any op with only a region.
bool Generator::emitRegion() {
  SmallVector<const OpSpec *> specs;
  for (const OpSpec &spec : allOps())
    if (spec.regions == 1 && spec.operands.empty() && !spec.hasOwnParent)
      specs.push_back(&spec);
  const OpSpec &spec = *random.pick(specs);
  OperationState state(builder.getLoc(), spec.name);
  Block *block = new Block();
  state.addRegion()->push_back(block);
  size_t begin = values.pool.size();
  SmallVector<Value> results;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    ++depth;
    emitItems(random.within(1, 4));
    --depth;
    values.entangle(begin);
    results = values.chooseResults(begin, random.within(1, 3));
    YieldOp::create(builder, results);
  }
  for (const AttributeSpec &attribute : spec.attributes)
    if (std::vector<std::string> names = PolicyRegistry().names(); random.chance(50))
      state.addAttribute(attribute.name, builder.getStringAttr(random.pick(names)));
  state.addTypes(TypeRange(ValueRange(results)));
  Operation *op = builder.create(state);
  values.pool.resize(begin);
  for (auto [inner, outer] : llvm::zip(results, op->getResults())) {
    values.pool.push_back(outer);
    if (values.isActive(inner))
      values.active.insert(outer);
  }
  return true;
}

static RankedTensorType stackOf(Type row, int64_t trip) {
  auto type = cast<RankedTensorType>(row);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), trip);
  return type.clone(shape);
}

/// Fills and ends the body of a loop; returns the types of its stacks' rows.
SmallVector<Type> Generator::emitLoopBody(Block *block, size_t carries) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  size_t begin = values.pool.size();
  for (BlockArgument argument : block->getArguments()) {
    values.pool.push_back(argument);
    if (gradientDepth > 0 && isFloat(argument.getType()))
      values.active.insert(argument);
  }
  ++depth;
  emitItems(random.within(1, 3));
  --depth;
  values.entangle(begin);
  SmallVector<Value> yields, rows = values.chooseResults(begin, random.below(3));
  for (BlockArgument argument : block->getArguments().take_front(carries))
    yields.push_back(values.obtain(cast<RankedTensorType>(argument.getType())));
  yields.append(rows);
  YieldOp::create(builder, yields);
  values.pool.resize(begin);
  return SmallVector<Type>(TypeRange(ValueRange(rows)));
}

bool Generator::emitLoop() {
  int64_t trip = random.within(1, 4);
  SmallVector<Value> inits = {values.pickFloat()}, xs;
  if (random.chance(40))
    inits.push_back(random.pickLate(values.pool));
  for (int64_t i = random.below(3); i > 0; --i)
    if (RankedTensorType stack = stackOf(random.pickLate(values.pool).getType(), trip);
        countElements(stack.getShape()) <= kMostElements)
      xs.push_back(values.obtain(stack));
  Block *block = new Block();
  for (Value init : inits)
    block->addArgument(init.getType(), builder.getLoc());
  for (Value x : xs) {
    auto type = cast<RankedTensorType>(x.getType());
    block->addArgument(type.clone(type.getShape().drop_front()), builder.getLoc());
  }
  SmallVector<Type> types;
  for (Value init : inits)
    types.push_back(init.getType());
  for (Type row : emitLoopBody(block, inits.size()))
    types.push_back(stackOf(row, trip));
  LoopOp op = LoopOp::create(builder, builder.getLoc(), trip, inits, xs, types, random.chance(30));
  op.getBlock().erase();
  op.getBody().push_back(block);
  values.add(op, gradientDepth > 0);
  return true;
}

/// A derivative of its own for some values, of any inputs.
bool Generator::emitRule() {
  SmallVector<Value> primals = {values.pickFloat()}, inputs = {values.pickFloat()}, cotangents;
  for (int64_t i = random.below(3); i > 0; --i)
    primals.push_back(random.pickLate(values.pool));
  if (random.chance(50))
    inputs.push_back(values.pickFloat());
  auto block = std::make_unique<Block>();
  for (Value primal : primals)
    if (isFloat(primal.getType()))
      block->addArgument(primal.getType(), builder.getLoc());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block.get());
    size_t begin = values.pool.size();
    llvm::append_range(values.pool, block->getArguments());
    ++depth;
    emitItems(random.within(1, 3));
    --depth;
    for (Value input : inputs)
      cotangents.push_back(values.obtain(cast<RankedTensorType>(input.getType())));
    YieldOp::create(builder, cotangents);
    values.pool.resize(begin);
  }
  auto op = CustomVjpOp::create(builder, TypeRange(ValueRange(primals)), primals, inputs);
  op.getBody().push_back(block.release());
  values.add(op, llvm::any_of(inputs, [&](Value input) { return values.isActive(input); }));
  return true;
}

/// Emits a loop with the given probability, if loops are in the repertoire, otherwise a block or a
/// checkpoint.
bool Generator::emitNested(int percentLoops) {
  if (random.chance(10) && !repertoire.without.count("reprise.custom_vjp"))
    return emitRule();
  bool isLoop = random.chance(percentLoops) && !repertoire.without.count("reprise.loop");
  return isLoop ? emitLoop() : emitRegion();
}

//===-- Gradients -----------------------------------------------------------------------------===//

/// Fills the body of a gradient or of a function, and ends it. Its first results are scalars.
void Generator::emitBody(Body &body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body.block);
  size_t begin = values.pool.size();
  for (BlockArgument argument : body.block->getArguments()) {
    values.pool.push_back(argument);
    if (!isFloat(argument.getType()))
      continue;
    values.active.insert(argument);
    if (body.wrt.empty() || random.chance(70))
      body.wrt.push_back(argument.getArgNumber());
  }
  ++depth;
  // The last unit before the backward pass is not replayed: rather blocks and loops first.
  for (int64_t i = random.below(3); i > 0; --i)
    emitNested(25);
  emitItems(random.within(1, depth > 1 ? 2 : 4));
  --depth;
  values.entangle(begin);
  SmallVector<Value> results;
  for (int64_t i = random.chance(15); i >= 0; --i) {
    body.losses.push_back(results.size());
    results.push_back(values.makeLoss(begin));
  }
  results.append(values.chooseResults(begin, random.below(3)));
  if (isa_and_nonnull<func::FuncOp>(body.block->getParentOp()))
    func::ReturnOp::create(builder, results);
  else
    YieldOp::create(builder, results);
  values.pool.resize(begin);
}

static ValueAndGradOp createGradient(ImplicitLocOpBuilder &builder, ValueRange inputs,
                                     const Body &body, FlatSymbolRefAttr callee) {
  SmallVector<Type> types(body.block->getTerminator()->getOperandTypes());
  for (size_t i = 0; i < body.losses.size(); ++i)
    for (int64_t argument : body.wrt)
      types.push_back(inputs[argument].getType());
  return ValueAndGradOp::create(builder, types, callee, inputs, body.wrt, body.losses);
}

bool Generator::emitGradient() {
  if (gradientDepth >= 2 || ++gradients > 5)
    return false;
  if (random.chance(30))
    return emitCall();
  SmallVector<Value> inputs = values.chooseInputs();
  Body body;
  body.block = new Block();
  for (Value input : inputs)
    body.block->addArgument(input.getType(), builder.getLoc());
  ++gradientDepth;
  emitBody(body);
  --gradientDepth;
  ValueAndGradOp op = createGradient(builder, inputs, body, nullptr);
  op.getBody().push_back(body.block);
  values.add(op, gradientDepth > 0);
  return true;
}

//===-- Functions -----------------------------------------------------------------------------===//

Function Generator::makeFunction(TypeRange inputs) {
  func::FuncOp function = addFunction("f" + std::to_string(functionCount++), inputs);
  function.setPrivate();
  std::vector<Value> outer;
  std::swap(outer, values.pool);
  bool wasIsolated = std::exchange(values.isolated, true);
  Body body;
  body.block = &function.getBody().front();
  ++gradientDepth;
  emitBody(body);
  --gradientDepth;
  values.isolated = wasIsolated;
  std::swap(outer, values.pool);
  TypeRange results = body.block->getTerminator()->getOperandTypes();
  function.setType(builder.getFunctionType(inputs, results));
  return {function, body};
}

/// Emits a call of a function or its gradient, often a function that is called elsewhere too.
bool Generator::emitCall() {
  SmallVector<Value> inputs;
  if (functions.empty() || random.chance(50)) {
    inputs = values.chooseInputs();
    Function made = makeFunction(TypeRange(ValueRange(inputs)));
    functions.push_back(made);
  }
  Function callee = random.pickLate(functions);
  if (TypeRange(ValueRange(inputs)) != callee.function.getArgumentTypes()) {
    inputs.clear();
    for (Type type : callee.function.getArgumentTypes())
      inputs.push_back(values.obtain(cast<RankedTensorType>(type)));
  }
  bool isActiveCall = llvm::any_of(inputs, [&](Value v) { return values.isActive(v); });
  auto symbol = FlatSymbolRefAttr::get(callee.function);
  if (gradientDepth < 2 && random.chance(65))
    values.add(createGradient(builder, inputs, callee.body, symbol), isActiveCall);
  else
    values.add(func::CallOp::create(builder, callee.function, inputs), isActiveCall);
  return true;
}

} // namespace reprise::fuzz
