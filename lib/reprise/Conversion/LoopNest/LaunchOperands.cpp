// reprise: the leader of a launch, and where its operands lie
#include "LaunchOperands.h"
#include "reprise/Conversion/BodyView.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise {

static bool isMoved(Operation *op) {
  return isa<ViewOpInterface, IotaOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

bool isMoved(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || (isMoved(op) &&
                 llvm::all_of(op->getOperands(), [](Value operand) { return isMoved(operand); }));
}

bool isAlone(Block &body, Operation *leader) {
  return body.getTerminator()->getOperands() == ValueRange(leader->getResult(0)) &&
         llvm::all_of(body.without_terminator(),
                      [&](Operation &op) { return isMoved(&op) || &op == leader; });
}

Operation *findLeader(Block &body) {
  Operation *leader = nullptr;
  for (Operation &op : body.without_terminator())
    if (isa<ContractionOpInterface, ConvolutionOpInterface>(op)) {
      if (leader)
        return nullptr;
      leader = &op;
    }
  return leader;
}

/// A function that computes `value` as the body does, from the same arguments.
static OwningOpRef<func::FuncOp> functionOf(Value value) {
  Block &body = *value.getParentBlock();
  MLIRContext *context = value.getContext();
  auto type = FunctionType::get(context, body.getArgumentTypes(), value.getType());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(value.getLoc(), "copy", type);
  Block *copy = function->addEntryBlock();
  IRMapping mapping;
  mapping.map(body.getArguments(), copy->getArguments());
  OpBuilder builder = OpBuilder::atBlockEnd(copy);
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == &body; };
  (void)getBackwardSlice(value, &slice, options);
  for (Operation &op : body)
    if (slice.contains(&op))
      builder.clone(op, mapping);
  func::ReturnOp::create(builder, value.getLoc(), mapping.lookup(value));
  return function;
}

FailureOr<LaunchOperand> LaunchOperands::find(Value value, bool dense) {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<BodyView> found = viewOfArgument(value);
  if (!found || (dense && found->view.strides != StridedView::of(type).strides))
    return emitCopy(*functionOf(value));
  int64_t bytes = bytesOf(type.getElementType());
  return LaunchOperand{{BufferSlot::Input, found->argument, found->view.offset * bytes},
                       found->view.strides};
}

FailureOr<LaunchOperand> LaunchOperands::findPadded(Value value, ArrayRef<int64_t> low,
                                                    ArrayRef<int64_t> high) {
  OwningOpRef<func::FuncOp> function = functionOf(value);
  Operation *end = function->getBody().front().getTerminator();
  OpBuilder builder(end);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> sizes, interior(type.getRank(), 0);
  for (auto [size, before, after] : llvm::zip_equal(type.getShape(), low, high))
    sizes.push_back(before + size + after);
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  auto padded = PadOp::create(builder, value.getLoc(), type.clone(sizes), end->getOperand(0), zero,
                              low, high, interior);
  end->setOperand(0, padded);
  return emitCopy(*function);
}

FailureOr<LaunchOperand> LaunchOperands::findOrdered(Value value, ArrayRef<int64_t> order) {
  OwningOpRef<func::FuncOp> function = functionOf(value);
  Operation *end = function->getBody().front().getTerminator();
  OpBuilder builder(end);
  end->setOperand(0, TransposeOp::create(builder, value.getLoc(), end->getOperand(0), order));
  FailureOr<LaunchOperand> copy = emitCopy(*function);
  if (failed(copy))
    return failure();
  SmallVector<int64_t> strides(order.size());
  for (auto [dim, stride] : llvm::zip_equal(order, copy->strides))
    strides[dim] = stride;
  return LaunchOperand{copy->slot, strides};
}

FailureOr<LaunchOperand> LaunchOperands::emitCopy(func::FuncOp function) {
  std::string own = name + "_copy" + std::to_string(launch.commands.size());
  FailureOr<EmittedLaunch> copies = emitLoops(function.getBody().front(), own, kernels);
  if (failed(copies))
    return failure();
  auto type =
      cast<RankedTensorType>(function.getBody().front().getTerminator()->getOperand(0).getType());
  int64_t to = launch.addShared(getByteSize(type));
  int64_t scratch = copies->sharedBytes ? launch.addShared(copies->sharedBytes) : 0;
  for (EmittedCommand &command : copies->commands) {
    for (BufferSlot &slot : command.buffers)
      if (slot.kind == BufferSlot::Output || slot.kind == BufferSlot::Shared)
        slot = {BufferSlot::Shared, 0,
                slot.offset + (slot.kind == BufferSlot::Output ? to : scratch)};
    launch.commands.push_back(command);
  }
  return LaunchOperand{{BufferSlot::Shared, 0, to}, StridedView::of(type).strides};
}

LogicalResult LaunchOperands::emitBehind(func::FuncOp function, ArrayRef<BufferSlot> inputs) {
  std::string own = name + "_behind" + std::to_string(launch.commands.size());
  FailureOr<EmittedLaunch> made = emitLoops(function.getBody().front(), own, kernels);
  if (failed(made))
    return failure();
  int64_t scratch = made->sharedBytes ? launch.addShared(made->sharedBytes) : 0;
  for (EmittedCommand &command : made->commands) {
    for (BufferSlot &slot : command.buffers)
      if (slot.kind == BufferSlot::Input) {
        int64_t offset = slot.offset;
        slot = inputs[slot.index];
        slot.offset += offset;
      } else if (slot.kind == BufferSlot::Shared) {
        slot.offset += scratch;
      }
    launch.commands.push_back(command);
  }
  return success();
}

} // namespace reprise
