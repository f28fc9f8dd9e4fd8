// reprise: from offloads of the graph to copies to the host and back
#include "HostMoves.h"

#include "reprise/Dialect/Exec/IR/FreeOps.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/ReplayNumber.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise::exec {

void keepOnDevice(ProgramOp function) {
  Block &block = function.getBody().front();
  function.walk([&](reprise::OffloadOp op) {
    Operation *maker = op.getOperand().getDefiningOp();
    bool isMadeHere =
        maker && maker->getBlock() == &block && !maker->hasTrait<OpTrait::ConstantLike>();
    if (isReplay(op) && op->getBlock() == &block && isMadeHere)
      return;
    op.replaceAllUsesWith(op.getOperand());
    op.erase();
  });
}

int64_t countMovedBytes(Operation *op) {
  int64_t bytes = 0;
  if (isa<LaunchOp, LoopOp>(op))
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                           SmallVector<Value>(op->getResults())))
      bytes += getByteSize(value.getType());
  return bytes;
}

namespace {

/// Places among the commands of one block.
class Mover {
public:
  Mover(Block &block, int64_t bytesBeside) : block(block), bytesBeside(bytesBeside) {}

  void offload(reprise::OffloadOp replay) {
    Value value = replay.getOperand();
    HostOffloadOp &made = offloads[value];
    if (!made)
      made = makeOffload(value);
    OpBuilder builder(replay);
    auto fetch = HostFetchOp::create(builder, replay.getLoc(), value.getType(),
                                     EventType::get(builder.getContext()), made.getHost(), 0,
                                     DenseI64ArrayAttr(), DenseI64ArrayAttr());
    replay.replaceAllUsesWith(fetch.getValue());
    builder.setInsertionPoint(replay);
    WaitOp::create(builder, replay.getLoc(), fetch.getEvent(), 0);
    replay.erase();
    fetches.push_back(fetch);
  }

  void place() {
    for (auto &[value, offload] : offloads)
      placeOffload(offload);
    for (HostFetchOp fetch : fetches)
      placeFetch(fetch);
  }

  /// Places the wait of an offload behind the last reader of the value before the first fetch.
  void placeOffload(HostOffloadOp offload) {
    Operation *wait = *offload.getEvent().user_begin();
    Operation *first = findFirstFetch(offload), *last = offload;
    for (Operation *user : offload.getValue().getUsers())
      if (Operation *at = block.findAncestorOpInBlock(*user);
          last->isBeforeInBlock(at) && at->isBeforeInBlock(first))
        last = at;
    Operation *hidden = offload;
    for (int64_t left = bytesBeside * sizeOf(offload.getValue()); left > 0;
         left -= countMovedBytes(hidden)) {
      Operation *next = hidden->getNextNode();
      if (next == first || next->hasTrait<OpTrait::IsTerminator>())
        break;
      hidden = next;
    }
    wait->moveAfter(last->isBeforeInBlock(hidden) ? hidden : last);
  }

  /// Places a fetch behind the wait for its offload, which frees the value's place.
  void placeFetch(HostFetchOp fetch) {
    Operation *wait = *fetch.getEvent().user_begin(), *reader = block.getTerminator();
    for (Operation *user : fetch.getValue().getUsers())
      if (Operation *at = block.findAncestorOpInBlock(*user); at->isBeforeInBlock(reader))
        reader = at;
    wait->moveBefore(reader);
    fetch->moveBefore(wait);
    auto offload = fetch.getHost().getDefiningOp<HostOffloadOp>();
    Operation *earliest = *offload.getEvent().user_begin(), *at = wait;
    for (int64_t left = bytesBeside * sizeOf(fetch.getValue()); left > 0;) {
      Operation *before = at->getPrevNode();
      if (before == fetch)
        before = before->getPrevNode();
      if (before == earliest)
        break;
      at = before;
      left -= countMovedBytes(at);
    }
    fetch->moveBefore(at);
  }

private:
  HostOffloadOp makeOffload(Value value) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfter(value.getDefiningOp());
    auto event = EventType::get(builder.getContext());
    auto host = HostType::get(builder.getContext(), cast<RankedTensorType>(value.getType()));
    auto made =
        HostOffloadOp::create(builder, value.getLoc(), host, event, value, 0, IntegerAttr());
    WaitOp::create(builder, value.getLoc(), made.getEvent(), 0);
    return made;
  }

  Operation *findFirstFetch(HostOffloadOp offload) {
    Operation *first = block.getTerminator();
    for (Operation *user : offload.getHost().getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    return first;
  }

  static int64_t sizeOf(Value value) { return getByteSize(value.getType()); }

  Block &block;
  int64_t bytesBeside;
  llvm::MapVector<Value, HostOffloadOp> offloads;
  SmallVector<HostFetchOp> fetches;
};

} // namespace

void moveToHost(Block &block, int64_t bytesBeside) {
  Mover mover(block, bytesBeside);
  for (auto replay : llvm::make_early_inc_range(block.getOps<reprise::OffloadOp>()))
    mover.offload(replay);
  mover.place();
}

bool tightenHostMoves(Block &block) {
  Mover mover(block, 0);
  auto offloads = llvm::to_vector(block.getOps<HostOffloadOp>());
  auto fetches = llvm::to_vector(block.getOps<HostFetchOp>());
  llvm::for_each(offloads, [&](HostOffloadOp offload) { mover.placeOffload(offload); });
  llvm::for_each(fetches, [&](HostFetchOp fetch) { mover.placeFetch(fetch); });
  return !offloads.empty();
}

} // namespace reprise::exec
