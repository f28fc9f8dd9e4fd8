// reprise: transfers and events of command lists in the interpreter.
#include "Models.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Reference/Transfer.h"

using namespace mlir;

namespace reprise::reference {
namespace {

/// Returns the device of the program that a transfer names; -1 if there is none.
int64_t findPeer(Operation *op, FlatSymbolRefAttr peer) {
  auto program = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(op, peer);
  return program ? findOnlyDevice(program).value_or(-1) : -1;
}

template <typename Op>
struct TransferModel : TransferOpInterface::ExternalModel<TransferModel<Op>, Op> {
  bool isSend(Operation *op) const { return isa<exec::SendOp>(op); }
  int64_t getPeer(Operation *op) const { return findPeer(op, cast<Op>(op).getPeerAttr()); }
  int64_t getKey(Operation *op) const { return static_cast<int64_t>(cast<Op>(op).getTag()); }
  SmallVector<Value> getValues(Operation *op) const { return {cast<Op>(op).getValue()}; }
  bool endsLater(Operation *) const { return true; }
};

struct PullModel : TransferOpInterface::ExternalModel<PullModel, PullOp> {
  bool isSend(Operation *) const { return false; }
  int64_t getPeer(Operation *op) const { return findPeer(op, cast<PullOp>(op).getPeerAttr()); }
  int64_t getKey(Operation *op) const { return static_cast<int64_t>(cast<PullOp>(op).getTag()); }
  SmallVector<Value> getValues(Operation *op) const { return {cast<PullOp>(op).getResult()}; }
  bool endsLater(Operation *) const { return false; }
};

struct WaitModel : EventOpInterface::ExternalModel<WaitModel, exec::WaitOp> {
  Operation *getEnded(Operation *op) const {
    Operation *giver = cast<exec::WaitOp>(op).getEvent().getDefiningOp();
    return isa_and_present<exec::RecordOp>(giver) ? nullptr : giver;
  }
};

struct RecordModel : EventOpInterface::ExternalModel<RecordModel, exec::RecordOp> {
  Operation *getEnded(Operation *) const { return nullptr; }
};

/// A join has its parts one behind the other.
struct JoinModel : ReferenceOpInterface::ExternalModel<JoinModel, exec::JoinOp> {
  Results evaluate(Operation *op, Operands parts) const {
    Tensor whole(cast<RankedTensorType>(op->getResult(0).getType()));
    auto at = whole.bytes.begin();
    for (const Tensor *part : parts)
      at = llvm::copy(part->bytes, at);
    return single(std::move(whole));
  }
};

} // namespace

void attachPulls(MLIRContext *context) { PullOp::attachInterface<PullModel>(*context); }

void attachCommands(MLIRContext *context) {
  exec::SendOp::attachInterface<TransferModel<exec::SendOp>>(*context);
  exec::ReceiveOp::attachInterface<TransferModel<exec::ReceiveOp>>(*context);
  exec::WaitOp::attachInterface<WaitModel>(*context);
  exec::RecordOp::attachInterface<RecordModel>(*context);
  exec::JoinOp::attachInterface<JoinModel>(*context);
}

} // namespace reprise::reference
