// reprise: the number that distinguishes a replay from its original.
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise {

static constexpr StringLiteral kReplay = "replay";

int64_t getReplayNumber(Operation *op) {
  auto number = op->getInherentAttr(kReplay);
  return number && *number ? cast<IntegerAttr>(*number).getInt() : 0;
}

void setReplayNumber(Operation *op, int64_t number) {
  if (op->getInherentAttr(kReplay))
    op->setInherentAttr(StringAttr::get(op->getContext(), kReplay),
                        IntegerAttr::get(IntegerType::get(op->getContext(), 64), number));
}

bool isReplay(Operation *op) { return getReplayNumber(op) != 0; }

} // namespace reprise
