// reprise: from pulls of the graph to receives
#include "Pulls.h"

#include "HostMoves.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

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
