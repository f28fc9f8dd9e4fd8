// reprise: random programs of few ops, for the kernels
#include "KernelGenerator.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::fuzz {

using Shape = KernelValues::Shape;
using TensorType = KernelValues::TensorType;

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

KernelGenerator::KernelGenerator(MLIRContext *context, uint64_t seed, int64_t granule)
    : v(context, seed) {
  v.granule = granule;
}

OwningOpRef<ModuleOp> KernelGenerator::run() {
  module = ModuleOp::create(v.b.getLoc());
  v.b.setInsertionPointToEnd(module->getBody());
  v.function = func::FuncOp::create(v.b, "f", v.b.getFunctionType({}, {}));
  v.b.setInsertionPointToEnd(v.function.addEntryBlock());
  int64_t order = v.random.below(100); // order of derivatives
  for (int64_t i = order < 25 ? 2 : 1; i > 0; --i) {
    emitHeavy();
    emitBehind();
  }
  func::FuncOp entry = v.function;
  if (order >= 91 && isDifferentiable()) {
    entry = addGradient(v.function, false);
    if (order >= 98)
      entry = addGradient(entry, true);
  }
  v.function = entry;
  v.b.setInsertionPointToEnd(&entry.getBody().front());
  returnResults();
  nameInterface(entry);
  return std::move(module);
}

void KernelGenerator::emitHeavy() {
  // Attention's kernels are the longest, and have tests of their own.
  int64_t kind = v.random.below(100);
  if (kind < 28)
    emitConvolution(v);
  else if (kind < 53)
    emitContraction(v);
  else if (kind < 60)
    emitAttention(v);
  else if (kind < 66)
    emitPool(v);
  else if (kind < 75)
    emitReduction(v);
  else if (kind < 83)
    emitRows(v);
  else if (kind < 86)
    emitChannels(v);
  else if (kind < 91)
    emitIndexing(v);
  else if (kind < 96)
    emitScatter(v);
  else
    emitWhole(v);
}

/// Emits ops behind the heavy op: on its results, and beside them.
void KernelGenerator::emitBehind() {
  for (int64_t i = v.random.below(4); i > 0 && isFloat(v.pool.back()); --i) {
    Value value = v.pool.back();
    auto type = cast<TensorType>(value.getType());
    int64_t kind = v.random.below(10);
    if (kind < 2) {
      v.unary(value);
    } else if (kind < 5) {
      Value other = v.random.chance(60) ? v.broadcastTo(type, 2) : v.operand(type, 2);
      v.emit(v.random.chance(50) ? "add" : "mul", type, {value, other});
    } else if (kind < 6) {
      v.emit("cast", type.clone(v.drawFloat()), value);
    } else if (kind < 7) {
      emitReduction(v);
    } else {
      Shape shape =
          v.random.chance(50) ? reshaped(v.random, type.getShape()) : Shape(type.getShape());
      for (int64_t &size : shape)
        if (v.random.chance(15))
          size = std::max<int64_t>(1, size - v.random.below(3));
      v.operand(type.clone(shape));
    }
  }
}

//===-- Gradients -----------------------------------------------------------------------------===//

/// Returns whether every op of the function has a derivative, and an argument can be
/// differentiated.
bool KernelGenerator::isDifferentiable() {
  for (Operation &op : v.function.getBody().front())
    if (!isa<DifferentiableOpInterface>(op) && llvm::any_of(op.getOperands(), isFloat) &&
        llvm::any_of(op.getResults(), isFloat))
      return false;
  return llvm::any_of(v.function.getArguments(), isFloat) && llvm::any_of(v.pool, [](Value value) {
           return isFloat(value) && !isa<BlockArgument>(value) && value.use_empty();
         });
}

/// Returns the sum of values without readers; for a gradient, multiplied by directions.
Value KernelGenerator::makeLoss(func::FuncOp of, bool isSecond) {
  SmallVector<Value> terms;
  for (Value value : llvm::reverse(v.pool))
    if (isFloat(value) && !isa<BlockArgument>(value) && value.use_empty() && terms.size() < 3)
      terms.push_back(value);
  Value loss;
  for (Value value : terms) {
    auto type = cast<TensorType>(value.getType());
    if (isSecond)
      value = v.emit("mul", type, {value, of.getBody().front().addArgument(type, v.b.getLoc())});
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value sum = value;
    if (!dims.empty())
      sum = v.emit(v.random.chance(50) ? "mean" : "sum", type.clone(Shape()), value,
                   {v.numbers("dims", dims)});
    if (loss && sum.getType() != loss.getType())
      sum = v.emit("cast", loss.getType(), sum);
    loss = loss ? v.emit("add", loss.getType(), {loss, sum}) : sum;
  }
  return loss;
}

/// Ends `of`, whose first result becomes a loss, and returns a function that computes its results
/// and gradients. `isSecond` tells whether `of` computes gradients itself.
func::FuncOp KernelGenerator::addGradient(func::FuncOp of, bool isSecond) {
  SmallVector<Value> results = {makeLoss(of, isSecond)};
  for (Value value : v.pool)
    if (value.use_empty() && !isa<BlockArgument>(value) && value != results.front())
      results.push_back(value);
  func::ReturnOp::create(v.b, results);
  of.setPrivate();
  of.setName(isSecond ? "g" : "f");
  of.setType(v.b.getFunctionType(of.getBody().getArgumentTypes(), TypeRange(ValueRange(results))));

  v.b.setInsertionPointToEnd(module->getBody());
  auto gradient =
      func::FuncOp::create(v.b, "train", v.b.getFunctionType(of.getArgumentTypes(), {}));
  v.b.setInsertionPointToEnd(gradient.addEntryBlock());
  v.pool.clear();
  Shape wrt;
  for (BlockArgument argument : gradient.getArguments()) {
    v.pool.push_back(argument);
    if (isFloat(argument) && wrt.size() < 4)
      wrt.push_back(argument.getArgNumber());
  }
  SmallVector<Type> types(of.getResultTypes());
  for (int64_t argument : wrt)
    types.push_back(of.getArgumentTypes()[argument]);
  auto op = ValueAndGradOp::create(v.b, types, FlatSymbolRefAttr::get(of), gradient.getArguments(),
                                   wrt, ArrayRef<int64_t>{0});
  v.pool.insert(v.pool.end(), op->result_begin(), op->result_end());
  return gradient;
}

//===-- The interface -------------------------------------------------------------------------===//

/// Returns values without readers, and some others; some become the next values of arguments.
void KernelGenerator::returnResults() {
  SmallVector<Value> results;
  SmallVector<std::string> names;
  for (Value value : llvm::reverse(v.pool))
    if (!isa<BlockArgument>(value) && results.size() < 10 &&
        v.random.chance(value.use_empty() ? 100 : 15)) {
      names.push_back("r" + std::to_string(results.size()));
      results.push_back(value);
    }
  llvm::SmallDenseSet<unsigned> replaced;
  for (auto [value, name] : llvm::zip(results, names))
    for (BlockArgument argument : v.function.getArguments())
      if (argument.getType() == value.getType() && v.random.chance(20) &&
          replaced.insert(argument.getArgNumber()).second) {
        name = "a" + std::to_string(argument.getArgNumber());
        break;
      }
  func::ReturnOp::create(v.b, results);
  v.function.setType(
      v.b.getFunctionType(v.function.getBody().getArgumentTypes(), TypeRange(ValueRange(results))));
  v.function.setName("train");
  for (auto [i, name] : llvm::enumerate(names))
    v.function.setResultAttr(i, "reprise.name", v.b.getStringAttr(name));
}

void KernelGenerator::nameInterface(func::FuncOp entry) {
  static constexpr StringLiteral roles[] = {"input", "parameter", "state"};
  auto value = [&](double number) { return v.b.getF64FloatAttr(number); };
  for (BlockArgument argument : entry.getArguments()) {
    unsigned i = argument.getArgNumber();
    Attribute init = NormalInitAttr::get(v.context, value(0), value(1));
    if (isFloat(argument) && v.random.chance(25))
      init = UniformInitAttr::get(v.context, value(v.random.below(2) - 0.5), value(2));
    else if (!isFloat(argument) && i < v.indexLimits.size() && v.indexLimits[i])
      init = UniformIntInitAttr::get(v.context, -1, v.indexLimits[i] + 1);
    else if (!isFloat(argument))
      init = UniformIntInitAttr::get(v.context, -5, 9);
    entry.setArgAttr(i, "reprise.name", v.b.getStringAttr("a" + std::to_string(i)));
    entry.setArgAttr(i, "reprise.role", v.b.getStringAttr(v.random.pick(roles)));
    entry.setArgAttr(i, "reprise.init", init);
  }
}

} // namespace reprise::fuzz
