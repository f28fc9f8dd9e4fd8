// reprise: checks of the indices of a launch in a run
#include "IndexChecks.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Tensor.h"

using namespace mlir;

namespace reprise {

/// Describes, for the message, the op, and the argument of the step that holds the positions, if
/// any.
static std::string describe(Operation *op, Value positions) {
  std::string text = describeOp(op);
  auto argument = dyn_cast<BlockArgument>(positions);
  auto entry = argument ? dyn_cast<ProgramOp>(argument.getOwner()->getParentOp()) : ProgramOp();
  StringAttr name =
      entry ? EntrySignature(entry).getArgumentName(argument.getArgNumber()) : StringAttr();
  return name ? text + " (argument '" + name.getValue().str() + "')" : text;
}

void addIndexChecks(exec::LaunchOp launch, const EmittedLaunch &emitted,
                    MutableArrayRef<runtime::Command> commands) {
  for (auto op : launch.getBody().front().getOps<IndexingOpInterface>()) {
    // The kernels phase ensures that positions come from a buffer.
    auto argument = dyn_cast<BlockArgument>(op.getPositions());
    if (!argument)
      continue;
    auto isRead = [&](const BufferSlot &slot) {
      return slot.kind == BufferSlot::Input && slot.index == argument.getArgNumber() &&
             slot.offset == 0;
    };
    auto type = cast<RankedTensorType>(argument.getType());
    for (auto [command, kernel] : llvm::zip(commands, emitted.commands)) {
      const auto *slot = llvm::find_if(kernel.buffers, isRead);
      if (slot == kernel.buffers.end())
        continue;
      command.indexChecks.push_back(
          {static_cast<uint32_t>(slot - kernel.buffers.begin()), dtypeOf(type.getElementType()),
           static_cast<uint64_t>(type.getNumElements()), op.getPositionLimit(),
           describe(op, launch.getInputs()[argument.getArgNumber()])});
      break;
    }
  }
}

} // namespace reprise
