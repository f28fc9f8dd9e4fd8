// reprise: buffers of values, in and around loops.
#include "reprise/Dialect/Exec/IR/Storage.h"

#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

bool reprise::exec::isMade(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<StoringOpInterface, LoopOp>(op) && isa<RankedTensorType>(value.getType());
}

/// Returns the bytes of the operands of a join in front of operand `number`.
static int64_t findOffset(JoinOp join, unsigned number) {
  int64_t bytes = 0;
  for (Value part : join.getParts().take_front(number))
    bytes += getByteSize(part.getType());
  return bytes;
}

/// Returns the next value on the path to the root of `storage`; null for the root. Adds a row if
/// the step enters a stack, and an offset if it enters a join.
static Value step(Storage &storage) {
  Value value = storage.root;
  auto &rows = storage.rows;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    LoopOp loop = getLoop(argument.getOwner());
    unsigned i = argument.getArgNumber();
    if (!loop || i < loop.getNumCarries())
      return loop ? loop.getResult(i) : Value();
    rows.push_back({loop, getByteSize(value.getType())});
    return loop->getOperand(i);
  }
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return reshape.getOperand();
  if (!isMade(value))
    return {};
  for (OpOperand &use : value.getUses()) {
    unsigned i = use.getOperandNumber();
    if (auto inner = dyn_cast<LoopOp>(use.getOwner()); inner && i < inner.getNumCarries())
      return inner.getResult(i);
    if (auto join = dyn_cast<JoinOp>(use.getOwner())) {
      storage.offset += findOffset(join, i);
      storage.isPart = true;
      return join.getWhole();
    }
    LoopOp around = getLoop(value.getParentBlock());
    if (!around || use.getOwner() != around.getYield())
      continue;
    if (i >= around.getNumCarries())
      rows.push_back({around, getByteSize(value.getType())});
    return around.getResult(i);
  }
  return {};
}

void reprise::exec::forEachReader(Value value, function_ref<void(OpOperand &)> visit) {
  for (OpOperand &use : value.getUses()) {
    if (auto reshape = dyn_cast<ReshapeOp>(use.getOwner()))
      forEachReader(reshape.getResult(), visit);
    else
      visit(use);
  }
}

Storage reprise::exec::findStorage(Value value) {
  Storage storage{value, {}};
  while (Value next = step(storage))
    storage.root = next;
  return storage;
}

/// A reader of the body's argument that comes too late for `yielded` to lie in its place.
static Operation *findLateReader(LoopOp loop, BlockArgument argument, Value yielded,
                                 function_ref<bool(OpResult, unsigned)> mayShare) {
  auto next = dyn_cast<OpResult>(yielded);
  Operation *late = nullptr;
  forEachReader(argument, [&](OpOperand &use) {
    Operation *reader = loop.getBlock().findAncestorOpInBlock(*use.getOwner());
    // An inner loop may store its carries before it reads values from above.
    bool isOwn = next && reader == next.getOwner() && isa<LaunchOp>(reader) &&
                 mayShare(next, use.getOperandNumber());
    bool isEarlier =
        next && isa<LaunchOp>(next.getOwner()) && reader->isBeforeInBlock(next.getOwner());
    if (!isOwn && !isEarlier)
      late = reader;
  });
  return late;
}

Operation *reprise::exec::findLateReader(LoopOp loop, unsigned carry,
                                         function_ref<bool(OpResult, unsigned)> mayShare) {
  return ::findLateReader(loop, loop.getBlock().getArgument(carry),
                          loop.getYield()->getOperand(carry), mayShare);
}

bool reprise::exec::mayTakeRows(LoopOp loop, unsigned slice, unsigned stack,
                                function_ref<bool(OpResult, unsigned)> mayShare) {
  BlockArgument argument = loop.getSliceArguments()[slice];
  Value row = loop.getYield()->getOperand(loop.getNumCarries() + stack);
  Operation *maker = row.getDefiningOp();
  if (!isa_and_present<LaunchOp>(maker) || maker->getBlock() != &loop.getBlock() ||
      getByteSize(argument.getType()) != getByteSize(row.getType()))
    return false;
  // The rows are safe only if this slice is their only reader in the loop.
  int64_t reads = 0;
  forEachReader(findStorage(loop.getXs()[slice]).root,
                [&](OpOperand &use) { reads += loop->isAncestor(use.getOwner()); });
  return reads == 1 && !::findLateReader(loop, argument, row, mayShare);
}

/// Returns true if the op begins or ends to send an argument. Programs differ in how often they
/// send an argument, and that must not change the places of buffers: such ops share a position with
/// those before them.
static bool sendsArgument(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  auto send = dyn_cast_or_null<SendOp>(wait ? wait.getEvent().getDefiningOp() : op);
  return send && isa<BlockArgument>(send.getValue());
}

void Positions::add(Block &block) {
  for (Operation &op : block) {
    Operation *before = op.getPrevNode();
    if (before && sendsArgument(&op) && sendsArgument(before)) {
      intervals[&op] = intervals.at(before);
      others.push_back(&op);
    } else if (isa<LaunchOp>(op) || isBeside(&op)) {
      intervals[&op] = {next, next};
      ++next;
      if (auto launch = dyn_cast<LaunchOp>(op))
        launches.push_back(launch);
      else
        others.push_back(&op);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      int64_t begin = next++;
      loops.push_back(loop);
      add(loop.getBlock());
      intervals[&op] = {begin, next++};
    }
  }
}

/// Returns the latest position of stream 0 when `stream` reaches `op`: the record of the last event
/// that the stream has waited for.
int64_t Positions::findBegin(int64_t stream, Operation *op) const {
  if (stream == 0)
    return of(op).first;
  for (Operation *at = op->getPrevNode(); at; at = at->getPrevNode()) {
    auto wait = dyn_cast<WaitOp>(at);
    if (!wait || static_cast<int64_t>(wait.getStream()) != stream)
      continue;
    Operation *giver = wait.getEvent().getDefiningOp();
    return findBegin(getStream(giver), giver);
  }
  LoopOp loop = getLoop(op->getBlock());
  return loop ? findBegin(stream, loop) : 0;
}

/// Returns the first position of stream 0 that is known to follow `op` of `stream`: its wait for an
/// event that the stream recorded after `op`.
int64_t Positions::findEnd(int64_t stream, Operation *op) const {
  if (stream == 0)
    return of(op).second;
  for (Operation *at = op->getNextNode(); at; at = at->getNextNode())
    if (auto record = dyn_cast<RecordOp>(at);
        record && static_cast<int64_t>(record.getStream()) == stream)
      return findEnd(record.getEvent());
  LoopOp loop = getLoop(op->getBlock());
  return loop ? findEnd(stream, loop) : end;
}

int64_t Positions::findEnd(Value event) const {
  int64_t earliest = end;
  for (Operation *user : event.getUsers())
    if (auto wait = dyn_cast<WaitOp>(user))
      earliest = std::min(earliest, findEnd(wait.getStream(), wait));
  return earliest;
}

std::pair<int64_t, int64_t> Positions::inFlight(Operation *op) const {
  if (Value event = getEventBeside(op))
    return {findBegin(getStream(op), op), findEnd(event)};
  if (auto call = dyn_cast<CallOp>(op))
    return {findBegin(call.getStream(), op), findEnd(call.getStream(), op)};
  return of(op);
}

std::pair<int64_t, int64_t> Positions::seenFrom(Value root, Operation *op) const {
  auto [first, last] = of(root.getParentBlock()->findAncestorOpInBlock(*op));
  if (!isExplicit(op))
    return {first, last};
  auto [begin, behind] = inFlight(op);
  return {std::min(first, begin), std::max(last, behind)};
}
