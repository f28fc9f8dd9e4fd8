// reprise: sends and receives between the pieces of device programs
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "TransferSchedule.h"
#include "reprise/Dialect/Exec/IR/BackwardWaits.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Transfers.h"

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_SCHEDULETRANSFERSPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// Value in flight, on both sides.
struct Transfer {
  SendOp send;
  Operation *receive;  ///< pipe.receive, or reprise.pull
  Value sent, arrived; ///< events
};

class TransferScheduler {
public:
  explicit TransferScheduler(ArrayRef<ProgramOp> programs)
      : programs(programs), builder(ProgramOp(programs.front()).getContext()) {}

  LogicalResult run() {
    if (failed(collect()))
      return failure();
    if (transfers.empty())
      return success();
    TransferSchedule schedule(pieces, messages);
    for (size_t device = 0; device < programs.size(); ++device)
      rewrite(device, schedule);
    for (Transfer &transfer : transfers) {
      if (isa<ReceiveOp>(transfer.receive))
        transfer.receive->erase();
      transfer.send.erase();
    }
    return success();
  }

private:
  /// Turn 0 is the begin of a program.
  LogicalResult collect() {
    DenseMap<uint64_t, size_t> numbers;
    for (auto [device, program] : llvm::enumerate(programs)) {
      pieces.push_back(getPieces(program));
      size_t turn = 0;
      for (Operation &op : ProgramOp(program).getBody().front()) {
        turn += isa<PieceOp>(op);
        auto send = dyn_cast<SendOp>(op);
        if (!send)
          continue;
        auto [found, isNew] = numbers.try_emplace(send.getNumber(), transfers.size());
        if (!isNew)
          return refuse(send, "another send has the same number", transfers[found->second].send);
        transfers.push_back({send, nullptr, {}, {}});
        messages.push_back({device, 0, turn, 0});
      }
    }
    for (auto [device, program] : llvm::enumerate(programs))
      if (failed(match(program, device, numbers)))
        return failure();
    for (const Transfer &transfer : transfers)
      if (!transfer.receive)
        return SendOp(transfer.send).emitOpError("no program receives the value");
    return success();
  }

  /// A receive stands before the piece that reads the value.
  LogicalResult match(ProgramOp program, size_t device, const DenseMap<uint64_t, size_t> &numbers) {
    size_t turn = 1;
    for (Operation &op : program.getBody().front()) {
      turn += isa<PieceOp>(op);
      auto receive = dyn_cast<ReceiveOp>(op);
      auto pull = dyn_cast<PullOp>(op);
      if (!receive && !pull)
        continue;
      auto found = numbers.find(receive ? receive.getNumber() : pull.getTag());
      if (found == numbers.end())
        return op.emitOpError("no program sends the value");
      Message &message = messages[found->second];
      if (failed(match(program, message, transfers[found->second], &op,
                       receive ? receive.getPeer() : pull.getPeer())))
        return failure();
      message.to = device;
      message.read = turn;
      message.isPulled = pull != nullptr;
    }
    return success();
  }

  LogicalResult match(ProgramOp program, const Message &message, Transfer &transfer,
                      Operation *receive, StringRef peer) {
    if (transfer.receive)
      return refuse(receive, "another receive has the same number", transfer.receive);
    if (transfer.send.getPeer() != program.getName() ||
        peer != ProgramOp(programs[message.from]).getName())
      return refuse(receive, "the two sides name different programs", transfer.send);
    if (transfer.send.getValue().getType() != receive->getResult(0).getType())
      return refuse(receive, "the two sides differ in type", transfer.send);
    transfer.receive = receive;
    return success();
  }

  static LogicalResult refuse(Operation *op, StringRef text, Operation *other) {
    InFlightDiagnostic error = op->emitOpError(text);
    error.attachNote(other->getLoc())
        << (op->getName() == other->getName() ? "the other one" : "the other side");
    return error;
  }

  void rewrite(size_t device, const TransferSchedule &schedule) {
    builder.setInsertionPointToStart(&ProgramOp(programs[device]).getBody().front());
    size_t marked = 0; // turn whose first wait has been marked
    for (const TransferSchedule::Step &step : schedule.listSteps(device)) {
      if (step.kind == TransferSchedule::Step::Run) {
        if (step.number > 0 && step.number <= pieces[device].size())
          builder.setInsertionPointAfter(pieces[device][step.number - 1]);
        continue;
      }
      Transfer &transfer = transfers[step.number];
      bool isSend = messages[step.number].from == device;
      if (!isSend && messages[step.number].isPulled)
        continue; // the pull stays in the program
      if (step.kind == TransferSchedule::Step::Wait) {
        auto wait = exec::WaitOp::create(builder, transfer.send.getLoc(),
                                         isSend ? transfer.sent : transfer.arrived);
        size_t turn = messages[step.number].read;
        if (!isSend && std::exchange(marked, turn) != turn)
          mark(wait, device, turn);
      } else if (isSend)
        beginSend(transfer, schedule.tagOf(step.number));
      else
        beginReceive(transfer, schedule.tagOf(step.number));
    }
  }

  /// Marks the first wait of a backward pass.
  void mark(exec::WaitOp wait, size_t device, size_t turn) {
    if (turn > pieces[device].size())
      return;
    PieceOp piece = pieces[device][turn - 1];
    if (piece.isPass() && piece.getKind() == PieceKind::Backward && piece.getRound() == 0)
      exec::markBackwardPass(wait, static_cast<int64_t>(piece.getStage()),
                             static_cast<int64_t>(*piece.getMicrobatch()));
  }

  void beginSend(Transfer &transfer, int64_t tag) {
    SendOp send = transfer.send;
    if (auto pull = dyn_cast<PullOp>(transfer.receive))
      pull.setTag(tag);
    auto begun =
        exec::SendOp::create(builder, send.getLoc(), exec::EventType::get(builder.getContext()),
                             send.getValue(), send.getPeer(), tag, /*stream=*/0);
    if (Attribute purpose = send->getAttr(kTransferAttr))
      begun->setAttr(kTransferAttr, purpose);
    transfer.sent = begun.getEvent();
  }

  void beginReceive(Transfer &transfer, int64_t tag) {
    auto receive = cast<ReceiveOp>(transfer.receive);
    auto begun = exec::ReceiveOp::create(builder, receive.getLoc(), receive.getType(),
                                         exec::EventType::get(builder.getContext()),
                                         receive.getPeer(), tag, /*stream=*/0,
                                         /*arguments=*/nullptr, /*offsets=*/nullptr);
    receive.getValue().replaceAllUsesWith(begun.getValue());
    transfer.arrived = begun.getEvent();
  }

  ArrayRef<ProgramOp> programs;
  std::vector<SmallVector<PieceOp>> pieces; ///< pieces by device
  std::vector<Transfer> transfers;
  std::vector<Message> messages; ///< one per transfer
  OpBuilder builder;
};

struct ScheduleTransfersPass : impl::ScheduleTransfersPassBase<ScheduleTransfersPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ProgramOp> programs = llvm::filter_to_vector(
        findPrograms(getOperation()), [](ProgramOp program) { return findSchedule(program); });
    if (!programs.empty() && failed(TransferScheduler(programs).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace reprise::pipe
