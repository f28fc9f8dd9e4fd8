// reprise: from pulls of the graph to receives
#include "Pulls.h"

#include "HostMoves.h"
#include "Readers.h"
#include "reprise/Interfaces/Kinds.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

static bool isSoleRead(Value part) { return part.getDefiningOp<PullOp>() && part.hasOneUse(); }

/// Returns true if the operands of the join are contiguous in its result, at aligned places.
static bool hasWholeRows(ConcatenateOp join) {
  ArrayRef<int64_t> outer = join.getType().getShape().take_front(join.getDim());
  int64_t bytes = 0;
  bool isAligned = true;
  for (Value part : join.getOperands()) {
    isAligned &= bytes % offsets::Problem().alignment == 0;
    bytes += getByteSize(part.getType());
  }
  return isAligned && llvm::all_of(outer, [](int64_t size) { return size == 1; });
}

bool reprise::exec::isGather(Operation *op) {
  auto join = dyn_cast<ConcatenateOp>(op);
  return join && isa<ProgramOp>(op->getParentOp()) &&
         llvm::any_of(join.getOperands(), isSoleRead) && hasWholeRows(join) &&
         !llvm::all_of(findReaders(op), takesFromRegisters);
}

SmallVector<Operation *> reprise::exec::findPulls(Operation *gather) {
  SmallVector<Operation *> pulls;
  for (Value part : gather->getOperands())
    if (isSoleRead(part))
      pulls.push_back(part.getDefiningOp());
  return pulls;
}

bool reprise::exec::isPulledInPlace(Operation *op) {
  return isa<PullOp>(op) && op->hasOneUse() && isGather(*op->user_begin());
}

Value Pulls::form(OpBuilder &builder, PullOp pull) {
  auto receive = ReceiveOp::create(builder, pull.getLoc(), pull.getType(),
                                   EventType::get(builder.getContext()), pull.getPeer(),
                                   pull.getTag(), /*stream=*/0, /*arguments=*/nullptr,
                                   /*offsets=*/nullptr);
  WaitOp::create(builder, pull.getLoc(), receive.getEvent(), 0);
  receives.push_back(receive);
  return receive.getValue();
}

void Pulls::beginEarly(int64_t bytesBeside) {
  for (ReceiveOp receive : receives) {
    Operation *at = receive;
    for (int64_t left = bytesBeside * getByteSize(receive.getValue().getType()); left > 0;) {
      Operation *before = at->getPrevNode();
      if (!before)
        break;
      at = before;
      left -= countMovedBytes(at);
    }
    receive->moveBefore(at);
  }
}
