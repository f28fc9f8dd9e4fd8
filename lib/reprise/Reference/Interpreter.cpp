// reprise: walks a function and asks each op for its results.
#include "reprise/Reference/Interpreter.h"

#include "Models.h"
#include "llvm/ADT/ScopeExit.h"
#include <unistd.h>

using namespace mlir;

namespace reprise {

bool fitsMemory(TypeRange types) {
  __uint128_t bytes = 0;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    __uint128_t size = elementBytes(tensor.getElementType());
    // Sizes below 2^63 each: saturate before the next product could overflow.
    for (int64_t dim : tensor.getShape())
      size = std::min<__uint128_t>(size * static_cast<uint64_t>(dim), __uint128_t(1) << 64);
    bytes += size;
  }
  return bytes <= static_cast<__uint128_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

namespace {

/// The values of one call of a function, regions included. Every op in it runs as often as its
/// loops say.
class Frame {
public:
  const Tensor &get(Value value) const { return slots.find(value)->second.tensor; }

  /// Binds a value until its last use.
  void define(Value value, Tensor tensor) {
    int64_t uses = std::distance(value.use_begin(), value.use_end());
    if (uses != 0)
      slots[value] = {std::move(tensor), uses};
  }

  /// Takes the value for one use: moved out at the last one.
  Tensor use(Value value) {
    auto slot = slots.find(value);
    if (--slot->second.uses != 0)
      return slot->second.tensor;
    Tensor tensor = std::move(slot->second.tensor);
    slots.erase(slot);
    return tensor;
  }

  /// Every use inside `region` of a value from above comes `factor` times.
  void multiplyUses(Region &region, int64_t factor) {
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (operand.getParentRegion()->isProperAncestor(&region))
          slots.find(operand)->second.uses += factor - 1;
    });
  }

  void release(Value value) {
    auto slot = slots.find(value);
    if (--slot->second.uses == 0)
      slots.erase(slot);
  }

private:
  struct Slot {
    Tensor tensor;
    int64_t uses;
  };
  llvm::DenseMap<Value, Slot> slots;
};

class Interpreter {
public:
  FailureOr<std::vector<Tensor>> call(func::FuncOp function, std::vector<Tensor> arguments);

private:
  FailureOr<std::vector<Tensor>> runBlock(Block &block, Frame &frame);
  FailureOr<std::vector<Tensor>> runOp(Operation *op, Frame &frame);
  FailureOr<std::vector<Tensor>> runLoop(LoopOp op, Frame &frame);
  FailureOr<std::vector<Tensor>> runCall(func::CallOp op, Frame &frame);
  FailureOr<std::vector<Tensor>> evaluate(Operation *op, Frame &frame);

  SymbolTableCollection symbols;
  llvm::SmallPtrSet<Operation *, 4> running;
};

std::vector<Tensor> useAll(ValueRange values, Frame &frame) {
  std::vector<Tensor> tensors;
  for (Value value : values)
    tensors.push_back(frame.use(value));
  return tensors;
}

FailureOr<std::vector<Tensor>> Interpreter::evaluate(Operation *op, Frame &frame) {
  auto reference = dyn_cast<ReferenceOpInterface>(op);
  if (!reference)
    return op->emitOpError("cannot be interpreted");
  auto random = dyn_cast<RandomOpInterface>(op);
  if (random && random.draws() && !random.getSeedOperand())
    return op->emitOpError("cannot be interpreted without a seed; run the random phase first");
  if (!fitsMemory(op->getResultTypes()))
    return op->emitOpError("cannot be interpreted: its results exceed this machine's memory");
  SmallVector<const Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&frame.get(operand));
  SmallVector<Tensor> results = reference.evaluate(operands);
  for (Value operand : op->getOperands())
    frame.release(operand);
  return std::vector<Tensor>(std::make_move_iterator(results.begin()),
                             std::make_move_iterator(results.end()));
}

FailureOr<std::vector<Tensor>> Interpreter::runCall(func::CallOp op, Frame &frame) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!function || function.isExternal())
    return op.emitOpError("expected a function with a body");
  if (running.contains(function))
    return op.emitOpError("cannot be interpreted: the call is recursive");
  return call(function, useAll(op.getOperands(), frame));
}

/// Row `row` of a stack.
Tensor sliceRow(const Tensor &stack, int64_t row) {
  Tensor slice(stack.type.clone(stack.type.getShape().drop_front()));
  std::copy_n(stack.bytes.begin() + row * slice.bytes.size(), slice.bytes.size(),
              slice.bytes.begin());
  return slice;
}

FailureOr<std::vector<Tensor>> Interpreter::runLoop(LoopOp op, Frame &frame) {
  if (!fitsMemory(op->getResultTypes()))
    return op->emitOpError("cannot be interpreted: its results exceed this machine's memory");
  std::vector<Tensor> results = useAll(op.getInits(), frame), xs = useAll(op.getXs(), frame);
  size_t carries = results.size();
  for (Value stack : op.getStacks())
    results.emplace_back(cast<RankedTensorType>(stack.getType()));
  int64_t trip = op.getTrip();
  frame.multiplyUses(op.getBody(), trip);
  for (int64_t i = 0; i < trip; ++i) {
    int64_t row = op.getReverse() ? trip - 1 - i : i;
    for (auto [argument, tensor] : llvm::zip_first(op.getCarryArguments(), results))
      frame.define(argument, std::move(tensor));
    for (auto [argument, stack] : llvm::zip(op.getSliceArguments(), xs))
      frame.define(argument, sliceRow(stack, row));
    FailureOr<std::vector<Tensor>> yielded = runBlock(op.getBlock(), frame);
    if (failed(yielded))
      return failure();
    for (size_t j = 0; j < results.size(); ++j) {
      std::vector<uint8_t> &bytes = (*yielded)[j].bytes;
      if (j < carries)
        results[j] = std::move((*yielded)[j]);
      else
        std::copy(bytes.begin(), bytes.end(), results[j].bytes.begin() + row * bytes.size());
    }
  }
  return results;
}

FailureOr<std::vector<Tensor>> Interpreter::runOp(Operation *op, Frame &frame) {
  if (isa<BlockOp, CheckpointOp>(op))
    return runBlock(op->getRegion(0).front(), frame);
  if (auto loop = dyn_cast<LoopOp>(op))
    return runLoop(loop, frame);
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return runCall(callOp, frame);
  if (isa<ValueAndGradOp>(op))
    return op->emitOpError("cannot be interpreted; run the autodiff phase first");
  return evaluate(op, frame);
}

/// Runs up to the terminator and returns its operands.
FailureOr<std::vector<Tensor>> Interpreter::runBlock(Block &block, Frame &frame) {
  for (Operation &op : block.without_terminator()) {
    FailureOr<std::vector<Tensor>> results = runOp(&op, frame);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip(op.getResults(), *results))
      frame.define(value, std::move(tensor));
  }
  Operation *terminator = block.getTerminator();
  if (!isa<func::ReturnOp, YieldOp>(terminator))
    return terminator->emitOpError("cannot be interpreted");
  return useAll(terminator->getOperands(), frame);
}

FailureOr<std::vector<Tensor>> Interpreter::call(func::FuncOp function,
                                                 std::vector<Tensor> arguments) {
  running.insert(function);
  llvm::scope_exit done([&] { running.erase(function); });
  Frame frame;
  for (auto [value, tensor] : llvm::zip(function.getArguments(), arguments))
    frame.define(value, std::move(tensor));
  return runBlock(function.getBody().front(), frame);
}

} // namespace

FailureOr<std::vector<Tensor>> interpret(func::FuncOp entry, ArrayRef<Tensor> arguments) {
  if (entry.isExternal())
    return entry.emitOpError("cannot be interpreted: it has no body");
  if (arguments.size() != entry.getNumArguments())
    return entry.emitOpError("expected ")
           << entry.getNumArguments() << " arguments, got " << arguments.size();
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.type != entry.getArgumentTypes()[i])
      return entry.emitOpError("expected argument ")
             << i << " of type " << entry.getArgumentTypes()[i] << ", got " << argument.type;
  FailureOr<std::vector<Tensor>> results = Interpreter().call(entry, arguments.vec());
  if (succeeded(results))
    for (Tensor &result : *results)
      canonicalizeNaNs(result);
  return results;
}

void registerReference(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RepriseDialect *) {
    reference::attachElementwise(context);
    reference::attachShape(context);
    reference::attachIndexing(context);
    reference::attachReductions(context);
    reference::attachNormalizations(context);
    reference::attachChannelNorms(context);
    reference::attachAttention(context);
    reference::attachRotary(context);
    reference::attachConvolution(context);
    reference::attachRandom(context);
  });
}

} // namespace reprise
