// reprise: puts the ops of the parts of a model into pieces of their devices
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Order.h"
#include "PartOrder.h"
#include "PartPlaces.h"
#include "Places.h"
#include "TransferKinds.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_FORMPARTPIECESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// Puts an op into a piece of its own, so that a transfer may stand before and behind it. The piece
/// of an op of a pass has the micro-batch, so that it pulls arguments of other devices.
void formPiece(Operation &op, int64_t device) {
  OpBuilder builder(&op);
  auto piece = PieceOp::create(builder, op.getLoc(), op.getResultTypes(), PieceKind::After,
                               /*stage=*/0, /*microbatch=*/nullptr, /*round=*/0, device,
                               /*segment=*/nullptr);
  if (isOfGradient(&op))
    piece->setAttr(kMicrobatchAttr,
                   builder.getI64IntegerAttr(getNumber(&op, kMicrobatchAttr).value_or(0)));
  takeTransfer(&op, piece);
  PieceOp::ensureTerminator(piece.getBody(), builder, op.getLoc());
  op.replaceAllUsesWith(piece.getResults());
  op.moveBefore(piece.getYield());
  piece.getYield()->setOperands(op.getResults());
}

struct FormPartPiecesPass : impl::FormPartPiecesPassBase<FormPartPiecesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (ProgramOp step : findPrograms(getOperation()))
      if (failed(form(step)))
        return signalPassFailure();
  }

private:
  LogicalResult form(ProgramOp step) {
    PartMesh mesh{replicas, devices, parts, {}};
    if (failed(verifyOneDevice(step)) || failed(sort(step, mesh)))
      return failure();
    int64_t rounds = (countSweeps(step) + 1) / 2;
    PartPlaces places(step, mesh);
    for (Operation &op : llvm::make_early_inc_range(step.getBody().front().without_terminator())) {
      std::optional<int64_t> device = places.get(&op);
      if (device)
        formPiece(op, *device);
      for (StringRef name :
           {StringRef(kModelPartAttr), StringRef(kStageAttr), StringRef(kMicrobatchAttr),
            StringRef(kBatchSumAttr), StringRef(kTransferAttr)})
        op.removeDiscardableAttr(name);
    }
    Builder builder(step.getContext());
    for (auto [argument, device] : places.getHomes()) {
      step.setArgAttr(argument, kHomeAttr, builder.getI64IntegerAttr(0));
      step.setArgAttr(argument, kReplicaAttr, builder.getI64IntegerAttr(device));
    }
    return write(step, mesh.countDevices(), rounds);
  }

  /// Lets each stage run its passes in the order of the schedule, and finds the ranks of stages.
  /// The option `schedule` orders two or more stages; passes of one stage have the default order.
  LogicalResult sort(ProgramOp step, PartMesh &mesh) {
    if (devices == 1 && (replicas == 1 || countSweeps(step) > 2))
      return success();
    FailureOr<Order> order =
        Order::find(step, devices == 1 ? "" : StringRef(schedule), devices, chunks);
    if (failed(order))
      return failure();
    if (order->splitsBackward() || countSweeps(step) > 2)
      return step.emitError(
                 "parts of a model run with one forward and one backward pass per stage: expected "
                 "the schedule gpipe, 1f1b or interleaved-1f1b, got '")
             << schedule << "'";
    for (int stage = 0; stage < order->getShape().stages(); ++stage)
      mesh.rankOfStage.push_back(order->getShape().rankOf(stage));
    FailureOr<pipeline::Schedule> made = order->make(step, countMicrobatches(step) / replicas);
    if (failed(made))
      return failure();
    orderParts(step, *made, replicas);
    return success();
  }

  /// Writes a schedule that has a row per device, whose passes are empty: all pieces stand behind
  /// them.
  LogicalResult write(ProgramOp step, int64_t rows, int64_t rounds) {
    step->removeAttr(kCutsAttr);
    step->removeAttr(kTimingAttr);
    FailureOr<Order> order = Order::find(step, /*name=*/"", /*devices=*/1, /*chunks=*/1);
    if (failed(order))
      return failure();
    FailureOr<pipeline::Schedule> made = order->make(step, /*microbatches=*/1);
    if (failed(made))
      return failure();
    writeSchedule(step, *made, rows, rounds);
    return success();
  }
};

} // namespace
} // namespace reprise::pipe
