// reprise: random programs of few ops, for the kernels
#include "KernelGenerator.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::fuzz {

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

KernelGenerator::KernelGenerator(MLIRContext *context, uint64_t seed)
    : context(context), random(seed * 0x2545f4914f6cdd1du + 7),
      b(UnknownLoc::get(context), context) {
  SmallVector<Type> floats = {b.getBF16Type(), b.getBF16Type(), b.getBF16Type(),
                              b.getF16Type(),  b.getF16Type(),  b.getF32Type(),
                              b.getF32Type(),  b.getF32Type(),  b.getF64Type()};
  element = random.pick(floats);
  // Most are cheap to interpret; some fill several blocks, and what is packed for all workers.
  int64_t size = random.below(100);
  mostElements = size < 65 ? 3000 : size < 92 ? 12000 : 40000;
  mostFlops = size < 65 ? 100000 : size < 92 ? 1000000 : size < 99 ? 5000000 : 20000000;
}

OwningOpRef<ModuleOp> KernelGenerator::run() {
  module = ModuleOp::create(b.getLoc());
  b.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(b, "f", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  int64_t order = random.below(100); // of derivatives
  for (int64_t i = order < 25 ? 2 : 1; i > 0; --i) {
    emitHeavy();
    emitBehind();
  }
  func::FuncOp entry = function;
  if (order >= 91 && isDifferentiable()) {
    entry = addGradient(function, false);
    if (order >= 98)
      entry = addGradient(entry, true);
  }
  function = entry;
  b.setInsertionPointToEnd(&entry.getBody().front());
  returnResults();
  nameInterface(entry);
  return std::move(module);
}

Value KernelGenerator::emit(StringRef name, TypeRange results, ValueRange operands,
                            const Attributes &attributes, ArrayRef<int32_t> segments) {
  OperationState state(b.getLoc(), ("reprise." + name).str());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttributes(attributes);
  if (!segments.empty())
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  Operation *op = b.create(state);
  pool.insert(pool.end(), op->result_begin(), op->result_end());
  return op->getResult(0);
}

void KernelGenerator::emitHeavy() {
  // Attention's kernels are the longest, and have tests of their own.
  int64_t kind = random.below(100);
  if (kind < 28)
    emitConvolution();
  else if (kind < 53)
    emitContraction();
  else if (kind < 60)
    emitAttention();
  else if (kind < 66)
    emitPool();
  else if (kind < 75)
    emitReduction();
  else if (kind < 83)
    emitRows();
  else if (kind < 86)
    emitChannels();
  else if (kind < 91)
    emitIndexing();
  else if (kind < 96)
    emitScatter();
  else
    emitWhole();
}

/// Ops behind the heavy one: on its results, and beside them.
void KernelGenerator::emitBehind() {
  for (int64_t i = random.below(4); i > 0 && isFloat(pool.back()); --i) {
    Value value = pool.back();
    auto type = cast<TensorType>(value.getType());
    int64_t kind = random.below(10);
    if (kind < 2) {
      unary(value);
    } else if (kind < 5) {
      Value other = random.chance(60) ? broadcastTo(type, 2) : operand(type, 2);
      emit(random.chance(50) ? "add" : "mul", type, {value, other});
    } else if (kind < 6) {
      emit("cast", type.clone(drawFloat()), value);
    } else if (kind < 7) {
      emitReduction();
    } else {
      Shape shape = random.chance(50) ? reshaped(type.getShape()) : Shape(type.getShape());
      for (int64_t &size : shape)
        if (random.chance(15))
          size = std::max<int64_t>(1, size - random.below(3));
      operand(type.clone(shape));
    }
  }
}

//===-- Gradients -----------------------------------------------------------------------------===//

/// Every op of the function has a derivative, and there is something to differentiate.
bool KernelGenerator::isDifferentiable() {
  for (Operation &op : function.getBody().front())
    if (!isa<DifferentiableOpInterface>(op) && llvm::any_of(op.getOperands(), isFloat) &&
        llvm::any_of(op.getResults(), isFloat))
      return false;
  return llvm::any_of(function.getArguments(), isFloat) && llvm::any_of(pool, [](Value value) {
           return isFloat(value) && !isa<BlockArgument>(value) && value.use_empty();
         });
}

/// The sum of what nothing reads; of a gradient, times directions.
Value KernelGenerator::makeLoss(func::FuncOp of, bool isSecond) {
  SmallVector<Value> terms;
  for (Value value : llvm::reverse(pool))
    if (isFloat(value) && !isa<BlockArgument>(value) && value.use_empty() && terms.size() < 3)
      terms.push_back(value);
  Value loss;
  for (Value value : terms) {
    auto type = cast<TensorType>(value.getType());
    if (isSecond)
      value = emit("mul", type, {value, of.getBody().front().addArgument(type, b.getLoc())});
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value sum = value;
    if (!dims.empty())
      sum = emit(random.chance(50) ? "mean" : "sum", type.clone(Shape()), value,
                 {numbers("dims", dims)});
    if (loss && sum.getType() != loss.getType())
      sum = emit("cast", loss.getType(), sum);
    loss = loss ? emit("add", loss.getType(), {loss, sum}) : sum;
  }
  return loss;
}

/// Ends `of`, whose first result becomes a loss, and returns a function that computes its results
/// and gradients. `isSecond` tells that it computes gradients itself.
func::FuncOp KernelGenerator::addGradient(func::FuncOp of, bool isSecond) {
  SmallVector<Value> results = {makeLoss(of, isSecond)};
  for (Value value : pool)
    if (value.use_empty() && !isa<BlockArgument>(value) && value != results.front())
      results.push_back(value);
  func::ReturnOp::create(b, results);
  of.setPrivate();
  of.setName(isSecond ? "g" : "f");
  of.setType(b.getFunctionType(of.getBody().getArgumentTypes(), TypeRange(ValueRange(results))));

  b.setInsertionPointToEnd(module->getBody());
  auto gradient = func::FuncOp::create(b, "train", b.getFunctionType(of.getArgumentTypes(), {}));
  b.setInsertionPointToEnd(gradient.addEntryBlock());
  pool.clear();
  Shape wrt;
  for (BlockArgument argument : gradient.getArguments()) {
    pool.push_back(argument);
    if (isFloat(argument) && wrt.size() < 4)
      wrt.push_back(argument.getArgNumber());
  }
  SmallVector<Type> types(of.getResultTypes());
  for (int64_t argument : wrt)
    types.push_back(of.getArgumentTypes()[argument]);
  auto op = ValueAndGradOp::create(b, types, FlatSymbolRefAttr::get(of), gradient.getArguments(),
                                   wrt, ArrayRef<int64_t>{0});
  pool.insert(pool.end(), op->result_begin(), op->result_end());
  return gradient;
}

//===-- The interface -------------------------------------------------------------------------===//

/// Values that nothing reads, and some others; some become the next values of arguments.
void KernelGenerator::returnResults() {
  SmallVector<Value> results;
  SmallVector<std::string> names;
  for (Value value : llvm::reverse(pool))
    if (!isa<BlockArgument>(value) && results.size() < 10 &&
        random.chance(value.use_empty() ? 100 : 15)) {
      names.push_back("r" + std::to_string(results.size()));
      results.push_back(value);
    }
  llvm::SmallDenseSet<unsigned> replaced;
  for (auto [value, name] : llvm::zip(results, names))
    for (BlockArgument argument : function.getArguments())
      if (argument.getType() == value.getType() && random.chance(20) &&
          replaced.insert(argument.getArgNumber()).second) {
        name = "a" + std::to_string(argument.getArgNumber());
        break;
      }
  func::ReturnOp::create(b, results);
  function.setType(
      b.getFunctionType(function.getBody().getArgumentTypes(), TypeRange(ValueRange(results))));
  function.setName("train");
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttr(i, "reprise.name", b.getStringAttr(name));
}

void KernelGenerator::nameInterface(func::FuncOp entry) {
  static constexpr StringLiteral roles[] = {"input", "parameter", "state"};
  auto value = [&](double number) { return b.getF64FloatAttr(number); };
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    Attribute init = NormalInitAttr::get(context, value(0), value(1));
    if (isFloat(argument) && random.chance(25))
      init = UniformInitAttr::get(context, value(random.below(2) - 0.5), value(2));
    else if (!isFloat(argument) && i < indexLimits.size() && indexLimits[i])
      init = UniformIntInitAttr::get(context, -1, indexLimits[i] + 1);
    else if (!isFloat(argument))
      init = UniformIntInitAttr::get(context, -5, 9);
    entry.setArgAttr(i, "reprise.name", b.getStringAttr("a" + std::to_string(i)));
    entry.setArgAttr(i, "reprise.role", b.getStringAttr(random.pick(roles)));
    entry.setArgAttr(i, "reprise.init", init);
  }
}

} // namespace reprise::fuzz
