// reprise: a launch that is an attention or the backward of one
#include "AttentionLaunch.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

Operation *findAttention(Block &body) {
  for (Operation &op : body.without_terminator())
    if (isa<AttentionOpInterface>(op))
      return &op;
  return nullptr;
}

namespace {

class AttentionLaunch {
public:
  AttentionLaunch(Operation *op, LaunchOperands operands)
      : op(op), body(*op->getBlock()), operands(std::move(operands)) {}

  FailureOr<EmittedLaunch> emit(llvm::function_ref<EmittedLaunch(const AttentionSpec &)> target) {
    if (failed(findResults()))
      return failure();
    auto forward = dyn_cast<AttentionOp>(op);
    LogicalResult found = forward ? addAll(forward) : addAll(cast<AttentionBackwardOp>(op));
    if (failed(found))
      return failure();
    if (std::max(spec.depth(), spec.valueDepth()) > AttentionSpec::maxDepth)
      return op->emitError("kernels of attention take heads of at most ")
             << AttentionSpec::maxDepth << " elements";
    return finish(target(spec));
  }

private:
  /// The body stores results of the op alone, each once.
  LogicalResult findResults() {
    outputs.assign(op->getNumResults(), -1);
    for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      auto result = dyn_cast<OpResult>(value);
      if (!result || result.getOwner() != op || outputs[result.getResultNumber()] >= 0)
        return op->emitError(
            "the kernel of this op can hold only the op and views of its operands");
      outputs[result.getResultNumber()] = static_cast<int64_t>(number);
    }
    spec.stored.clear();
    for (int64_t output : outputs)
      spec.stored.push_back(output >= 0);
    return success();
  }

  LogicalResult addAll(AttentionOp op) {
    return success(succeeded(describe(op)) && succeeded(addScoreOperands(op)) &&
                   succeeded(addDraw(op)));
  }

  LogicalResult addAll(AttentionBackwardOp op) {
    spec.hasDlse = static_cast<bool>(op.getDlse());
    return success(succeeded(describe(op)) && succeeded(add(op.getOut(), spec.out)) &&
                   succeeded(add(op.getLse(), spec.lse)) &&
                   succeeded(add(op.getDout(), spec.dout)) &&
                   (!spec.hasDlse || succeeded(add(op.getDlse(), spec.dlse))) &&
                   succeeded(addScoreOperands(op)) && succeeded(addDraw(op)));
  }

  template <typename OpT> LogicalResult describe(OpT op) {
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    spec.type = query.getElementType();
    spec.batch = query.getDimSize(0);
    spec.heads = query.getDimSize(1);
    spec.queries = query.getDimSize(2);
    spec.keyHeads = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
    spec.keys = cast<RankedTensorType>(op.getKey().getType()).getDimSize(2);
    spec.scale = op.getScale();
    spec.causal = op.getCausal();
    spec.rate = op.getRate();
    return success(succeeded(add(op.getQuery(), spec.query)) &&
                   succeeded(add(op.getKey(), spec.key)) &&
                   succeeded(add(op.getValue(), spec.value)));
  }

  LogicalResult add(Value value, AttentionStrides &strides) {
    FailureOr<LaunchOperand> operand = operands.find(value);
    if (failed(operand))
      return failure();
    ArrayRef<int64_t> found = operand->strides;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    strides = {found[0], found[1], found[2], 0, 0};
    if (shape.size() > 3)
      strides.depth = found[3], strides.columns = shape[3];
    const BufferSlot &slot = slots.emplace_back(operand->slot);
    if (slot.offset)
      spec.alignment = std::min(spec.alignment, slot.offset & -slot.offset);
    spec.alignment = std::min(spec.alignment, getPlaceAlignment(body));
    return success();
  }

  template <typename OpT> LogicalResult addScoreOperands(OpT op) {
    spec.hasBias = static_cast<bool>(op.getBias());
    spec.hasMask = static_cast<bool>(op.getMask());
    return success((!spec.hasBias || succeeded(addRepeated(op.getBias(), spec.bias))) &&
                   (!spec.hasMask || succeeded(addRepeated(op.getMask(), spec.mask))));
  }

  /// An operand [b or 1, h or 1, t or 1, s].
  LogicalResult addRepeated(Value value, AttentionStrides &strides) {
    if (failed(add(value, strides)))
      return failure();
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    for (auto [size, stride] :
         {std::pair(shape[0], &strides.batch), std::pair(shape[1], &strides.head),
          std::pair(shape[2], &strides.row)})
      if (size == 1)
        *stride = 0;
    return success();
  }

  LogicalResult addDense(Value value) {
    FailureOr<LaunchOperand> operand = operands.find(value, true);
    if (succeeded(operand))
      slots.push_back(operand->slot);
    return operand;
  }

  template <typename OpT> LogicalResult addDraw(OpT op) {
    if (!op.draws())
      return success();
    if (!op.getSeed() || !op.getStream())
      return op.emitError("a random op without a seed and a stream has no kernel");
    slots.push_back({BufferSlot::Stream, static_cast<int64_t>(*op.getStream()), 0});
    spec.globalShape = cast<RandomOpInterface>(op.getOperation()).getDrawnGlobalShape();
    spec.hasOrigin = static_cast<bool>(op.getOrigin());
    return success(succeeded(addDense(op.getSeed())) && succeeded(addDense(op.getOffset())) &&
                   (!spec.hasOrigin || succeeded(addDense(op.getOrigin()))));
  }

  /// Puts the body's buffers in the places of the kernel's.
  EmittedLaunch finish(EmittedLaunch attention) {
    SmallVector<int64_t> wanted;
    int64_t shared = attention.sharedBytes ? operands.launch.addShared(attention.sharedBytes) : 0;
    llvm::copy_if(outputs, std::back_inserter(wanted), [](int64_t output) { return output >= 0; });
    for (EmittedCommand &command : attention.commands) {
      for (BufferSlot &slot : command.buffers) {
        if (slot.kind == BufferSlot::Input)
          slot = slots[slot.index];
        else if (slot.kind == BufferSlot::Output)
          slot.index = wanted[slot.index];
        else
          slot.offset += shared;
      }
      operands.launch.commands.push_back(command);
    }
    return operands.launch;
  }

  Operation *op;
  Block &body;
  LaunchOperands operands;
  AttentionSpec spec;
  SmallVector<BufferSlot> slots; // of the kernel's inputs
  SmallVector<int64_t> outputs;  // of the body, per result of the op, or -1
};

} // namespace

FailureOr<EmittedLaunch>
emitAttentionLaunch(Operation *op, LaunchOperands operands,
                    llvm::function_ref<EmittedLaunch(const AttentionSpec &)> emit) {
  return AttentionLaunch(op, std::move(operands)).emit(emit);
}

} // namespace reprise
