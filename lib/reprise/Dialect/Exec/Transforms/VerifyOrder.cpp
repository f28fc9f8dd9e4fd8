// reprise: conflicts between commands that run beside other commands and access the same bytes
#include "VerifyOrder.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Support/AccessOrder.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::exec;

namespace {

// We use the limits of a bundle with such commands, and the number of streams that a command can
// name.
constexpr int64_t mostExecutions = int64_t(1) << 20;
constexpr size_t mostStreams = 16;

/// Runs the commands with vector clocks in the place of values.
class OrderVerifier {
public:
  OrderVerifier() : order(mostStreams) {}

  LogicalResult run(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        for (int64_t i = 0, trip = loop.getTrip(); i < trip; ++i) {
          rowOf[loop] = loop.getReverse() ? trip - 1 - i : i;
          if (failed(run(loop.getBlock())))
            return failure();
        }
      } else if (failed(runCommand(&op))) {
        return failure();
      }
    }
    return success();
  }

private:
  LogicalResult runCommand(Operation *op) {
    Value beside = getEventBeside(op);
    if (!beside && !isa<LaunchOp, CallOp, CopyOp, RecordOp, WaitOp>(op))
      return success();
    if (static_cast<int64_t>(commands.size()) == mostExecutions)
      return op->emitError("transfers, events or library calls among more than 2^20 commands");
    commands.push_back(op);
    size_t stream = getStream(op);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      order.wait(stream, events[wait.getEvent()]);
      return success();
    }
    if (auto record = dyn_cast<RecordOp>(op)) {
      events[record.getEvent()] = order.record(stream);
      return success();
    }
    AccessOrder::Actor actor = beside ? order.beside(stream) : order.onStream(stream);
    if (order.transferLanes() > kMostTransfers)
      return op->emitError("more than ") << kMostTransfers << " transfers are in flight";
    if (beside)
      events[beside] = actor.known;
    return access(actor, op);
  }

  /// Records the accesses of a command. Reads of a command come before its own writes and do not
  /// conflict with them.
  LogicalResult access(const AccessOrder::Actor &actor, Operation *op) {
    for (Value operand : op->getOperands())
      if (failed(access(actor, placeOf(operand), false)))
        return failure();
    if (auto offload = dyn_cast<HostOffloadOp>(op))
      return access(actor, placeOf(offload.getHost()), true);
    if (auto copy = dyn_cast<CopyOp>(op))
      return access(actor, {copy.getArgument() + 1, 0, sizeOf(copy.getValue())}, true);
    auto maker = dyn_cast<StoringOpInterface>(op);
    if (!maker)
      return success();
    for (Value result : maker.getStoredResults())
      if (failed(access(actor, placeOf(result), true)))
        return failure();
    auto scratch = op->getAttrOfType<DenseI64ArrayAttr>("scratch");
    if (!scratch)
      return success();
    uint64_t begin = scratch[0];
    return access(actor, {arena, begin, begin + scratch[1]}, true);
  }

  LogicalResult access(const AccessOrder::Actor &actor, AccessOrder::Place place, bool isWrite) {
    Operation *op = commands.back();
    std::optional<uint64_t> other = order.access(actor, place, isWrite, commands.size() - 1);
    if (!other)
      return success();
    Operation *before = commands[*other];
    InFlightDiagnostic diagnostic = op->emitError(isWrite ? "writes" : "reads")
                                    << " bytes that '" << before->getName().getStringRef()
                                    << "' may still use: no wait is between them";
    diagnostic.attachNote(before->getLoc()) << "the other command";
    return diagnostic;
  }

  static uint64_t sizeOf(Value value) { return getByteSize(value.getType()); }

  /// Returns the place of a value in this iteration. Constants are never written.
  AccessOrder::Place placeOf(Value value) const {
    if (auto offload = value.getDefiningOp<HostOffloadOp>();
        offload && value == offload.getHost()) {
      uint64_t begin = offload.getPlace().value_or(0);
      return {host, begin, begin + sizeOf(offload.getValue())};
    }
    Storage storage = findStorage(value);
    uint64_t begin = storage.offset;
    for (auto [loop, bytes] : storage.rows)
      begin += bytes * rowOf.lookup(loop);
    uint64_t size = sizeOf(value);
    if (auto argument = dyn_cast<BlockArgument>(storage.root))
      return {argument.getArgNumber() + uint64_t(1), begin, begin + size};
    unsigned number = cast<OpResult>(storage.root).getResultNumber();
    Operation *root = storage.root.getDefiningOp();
    if (auto maker = dyn_cast<StoringOpInterface>(root)) {
      int64_t argument = (*maker.getArguments())[number];
      begin += (*maker.getOffsets())[number];
      return {argument < 0 ? arena : uint64_t(argument) + 1, begin, begin + size};
    }
    auto offsets = root->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr);
    if (!offsets)
      return {};
    begin += offsets[number];
    return {arena, begin, begin + size};
  }

  static constexpr uint64_t arena = 0, host = UINT64_MAX; ///< argument i has number i + 1
  AccessOrder order;
  DenseMap<Value, AccessOrder::Clock> events;
  DenseMap<Operation *, int64_t> rowOf; ///< iterations of loops
  std::vector<Operation *> commands;    ///< executed commands
};

} // namespace

LogicalResult reprise::exec::verifyOrder(ProgramOp function) {
  bool isNeeded = function
                      .walk([](Operation *op) {
                        return isExplicit(op) && !isa<PauseOp>(op) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
  return isNeeded ? OrderVerifier().run(function.getBody().front()) : success();
}
