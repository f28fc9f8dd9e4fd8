// reprise: convolutions that a library of the GPU computes
#include "LibraryConvolution.h"

#include "ContractionIndex.h"
#include "ConvolutionLayout.h"
#include "TensorContraction.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/LibraryCall.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace reprise {
namespace {

/// Returns whether all parts suit tensor cores; a smaller part is always exact.
bool allPartsSuit(Operation *op, const ConvolutionOperands &operands) {
  return llvm::all_of(densePartsOf(op, operands), [](const ConvolutionPart &part) {
    return suitsTensorCores(part.spec, Contractions::Library);
  });
}

/// Call, and the zeros that are added to its image first, because the library supports only
/// symmetric padding.
struct Call {
  LibraryConvolution numbers;
  SmallVector<int64_t> low, high; ///< by dimension of the image
};

/// Describes one dimension; returns false if the library has no such padding.
template <typename OpT> bool describeAxis(OpT op, int64_t from, size_t axis, Call &call) {
  LibraryConvolution &c = call.numbers;
  int64_t low = op.getLow()[from], high = op.getHigh()[from];
  c.image[axis] = op.getImageType().getDimSize(from + 2);
  c.window[axis] = op.getFilterType().getDimSize(from + 2);
  c.output[axis] = op.getOutputType().getDimSize(from + 2);
  c.stride[axis] = op.getStrides()[from];
  c.dilation[axis] = op.getDilation()[from];
  c.pad[axis] = low;
  if (low >= 0 && c.output[axis] == c.outputOf(axis))
    return true;
  // The gradient of an image has one in its result, where no copy helps.
  if (low < 0 || high < 0 || std::is_same_v<OpT, ConvolutionTransposeOp>)
    return false;
  c.pad[axis] = 0;
  c.image[axis] += low + high;
  call.low[from + 2] = low;
  call.high[from + 2] = high;
  return true;
}

template <typename OpT> std::optional<Call> describe(OpT op) {
  Call call;
  call.low.assign(op.getImageType().getRank(), 0);
  call.high = call.low;
  LibraryConvolution &c = call.numbers;
  c.type = op.getType().getElementType().isBF16() ? callBF16 : callF16;
  c.samples = op.getImageType().getDimSize(0);
  c.channels = op.getImageType().getDimSize(1);
  c.outputs = op.getOutputType().getDimSize(1);
  c.groups = op.getGroups();
  int64_t spatial = op.getImageType().getRank() - 2;
  for (int64_t from = 0; from < spatial; ++from)
    if (!describeAxis(op, from, size_t(2 - spatial + from), call))
      return std::nullopt;
  return call;
}

std::optional<Call> describeCall(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Call>>(op)
      .Case<ConvolutionOp, ConvolutionTransposeOp, ConvolutionFilterOp>(
          [](auto convolution) { return describe(convolution); })
      .Default(std::nullopt);
}

/// Returns whether a value is aligned. Arguments are aligned if their size is a multiple of the
/// alignment; copies are always aligned.
bool isAligned(Value value) {
  return !isa<BlockArgument>(value) || getByteSize(value.getType()) % callAlignment == 0;
}

/// Finds an operand; copies a value that is no argument, or that needs zeros around it.
FailureOr<LaunchOperand> findDense(LaunchOperands &operands, Value value, ArrayRef<int64_t> low,
                                   ArrayRef<int64_t> high) {
  auto isZero = [](int64_t width) { return width == 0; };
  bool isRead =
      isa<BlockArgument>(value) && llvm::all_of(low, isZero) && llvm::all_of(high, isZero);
  return isRead ? operands.find(value, /*dense=*/true) : operands.findPadded(value, low, high);
}

const char *functionOf(Operation *op) {
  return isa<ConvolutionOp>(op)            ? LibraryConvolution::forward
         : isa<ConvolutionTransposeOp>(op) ? LibraryConvolution::data
                                           : LibraryConvolution::filter;
}

} // namespace

FailureOr<bool> emitLibraryConvolution(Operation *op, LaunchOperands &operands) {
  ConvolutionOperands found = operandsOf(op);
  if (!allPartsSuit(op, found))
    return false;
  auto refuse = [&](StringRef why) {
    operands.launch.whyOwn = why;
    return false;
  };
  std::optional<Call> described = describeCall(op);
  if (!described)
    return refuse("its padding differs on its sides");
  LibraryConvolution &numbers = described->numbers;
  if (!isAligned(found.lhs) || !isAligned(found.rhs) ||
      getByteSize(op->getResult(0).getType()) % callAlignment != 0)
    return refuse("a buffer is no multiple of 16 bytes");
  if (!numbers.isValid())
    return refuse("it is too large");
  numbers.workspace = numbers.usualWorkspace();
  SmallVector<int64_t> none(described->low.size(), 0);
  FailureOr<LaunchOperand> rhs = findDense(operands, found.rhs, described->low, described->high);
  FailureOr<LaunchOperand> lhs = findDense(operands, found.lhs, none, none);
  if (failed(rhs) || failed(lhs))
    return failure();
  int64_t workspace = operands.launch.addShared(numbers.workspace);
  EmittedCommand call;
  call.function = functionOf(op);
  call.numbers = numbers.numbers();
  call.buffers = {
      rhs->slot, lhs->slot, {BufferSlot::Output, 0, 0}, {BufferSlot::Shared, 0, workspace}};
  operands.launch.commands.push_back(call);
  return true;
}

} // namespace reprise
