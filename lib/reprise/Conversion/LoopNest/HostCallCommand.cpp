// reprise: calls of functions of the host, which have no kernel on any target
#include "HostCallCommand.h"

#include "reprise/Support/LibraryCall.h"

using namespace mlir;

namespace reprise::nests {

/// Returns the number of an element type in a bundle (Runtime/Bundle.h).
static int64_t numberOf(Type type) {
  return type.isF32()         ? 0
         : type.isF64()       ? 1
         : type.isBF16()      ? 2
         : type.isF16()       ? 3
         : type.isInteger(32) ? 4
         : type.isInteger(64) ? 5
                              : 6;
}

static HostCall::Tensor describe(Value value, bool isPresent) {
  auto type = cast<RankedTensorType>(value.getType());
  return {isPresent, numberOf(type.getElementType()), std::vector<int64_t>(type.getShape())};
}

EmittedCommand emitHostCall(CustomCallOp op, ArrayRef<bool> stored) {
  HostCall call;
  for (Value operand : op.getOperands())
    call.operands.push_back(describe(operand, true));
  for (auto [result, isStored] : llvm::zip(op.getResults(), stored))
    call.results.push_back(describe(result, isStored));
  EmittedCommand command;
  command.function = op.getCallee().str();
  command.numbers = call.numbers();
  return command;
}

} // namespace reprise::nests
