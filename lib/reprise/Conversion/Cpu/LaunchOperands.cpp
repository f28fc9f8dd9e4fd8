// reprise: where the operands of a launch's leader lie
#include "LaunchOperands.h"
#include "reprise/Conversion/Cpu/KernelBuilder.h"
#include "reprise/Conversion/Cpu/Loops.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace reprise {

/// A function that computes `value` as the body does, from the same arguments.
static OwningOpRef<func::FuncOp> functionOf(Value value, Block &body) {
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
    return copy(*functionOf(value, *value.getParentBlock()));
  int64_t bytes = KernelBuilder::bytesOf(type.getElementType());
  return LaunchOperand{{BufferSlot::Input, found->argument, found->view.offset * bytes},
                       found->view.strides};
}

FailureOr<LaunchOperand> LaunchOperands::findFramed(Value value, ArrayRef<int64_t> low,
                                                    ArrayRef<int64_t> high) {
  auto isZero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return find(value);
  OwningOpRef<func::FuncOp> function = functionOf(value, *value.getParentBlock());
  Operation *end = function->getBody().front().getTerminator();
  OpBuilder builder(end);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape()), before(2, 0), after(2, 0);
  before.append(low.begin(), low.end());
  after.append(high.begin(), high.end());
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] += before[d] + after[d];
  auto zero = cast<TypedAttr>(builder.getFloatAttr(type.getElementType(), 0.0));
  Value framed = PadOp::create(builder, value.getLoc(), type.clone(shape), end->getOperand(0), zero,
                               before, after, SmallVector<int64_t>(shape.size(), 0));
  end->setOperand(0, framed);
  function->setFunctionType(
      builder.getFunctionType(function->getArgumentTypes(), framed.getType()));
  return copy(*function);
}

FailureOr<LaunchOperand> LaunchOperands::copy(func::FuncOp function) {
  std::string own = name + ".copy" + std::to_string(launch.commands.size());
  FailureOr<EmittedLaunch> copies = emitLoops(function.getBody().front(), own, kernels, target);
  if (failed(copies))
    return failure();
  int64_t to = launch.sharedBytes;
  auto type = cast<RankedTensorType>(function.getResultTypes().front());
  int64_t scratch = to + static_cast<int64_t>(llvm::alignTo(getByteSize(type), 64));
  for (EmittedCommand &command : copies->commands) {
    for (BufferSlot &slot : command.buffers)
      if (slot.kind == BufferSlot::Output || slot.kind == BufferSlot::Shared)
        slot = {BufferSlot::Shared, 0,
                slot.offset + (slot.kind == BufferSlot::Output ? to : scratch)};
    launch.commands.push_back(command);
  }
  launch.sharedBytes = scratch + static_cast<int64_t>(llvm::alignTo(copies->sharedBytes, 64));
  return LaunchOperand{{BufferSlot::Shared, 0, to}, StridedView::of(type).strides};
}

} // namespace reprise
