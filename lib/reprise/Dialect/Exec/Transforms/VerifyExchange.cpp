// reprise: deadlocks between device programs that exchange values
#include "VerifyExchange.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/Rendezvous.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace reprise::exec {
namespace {

constexpr size_t kMostSteps = size_t(1) << 22; // limit of a bundle

class ExchangeVerifier {
public:
  explicit ExchangeVerifier(ArrayRef<ProgramOp> programs)
      : programs(programs), meeting(programs.size()) {
    for (auto [i, program] : llvm::enumerate(programs))
      numbers[ProgramOp(program).getName()] = i;
  }

  LogicalResult run() {
    for (ProgramOp program : programs)
      if (failed(add(program.getBody().front(), numbers[program.getName()])))
        return failure();
    std::optional<Rendezvous::Finding> finding = meeting.check();
    return finding ? refuse(*finding) : success();
  }

private:
  LogicalResult add(Block &block, size_t program) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        for (int64_t i = 0; hasTransfers(loop) && i < static_cast<int64_t>(loop.getTrip()); ++i)
          if (failed(add(loop.getBlock(), program)))
            return failure();
      } else if (failed(addCommand(&op, program))) {
        return failure();
      }
    }
    return success();
  }

  static bool hasTransfers(LoopOp loop) {
    return loop
        .walk([](Operation *op) {
          return isa<SendOp, ReceiveOp, reprise::PullOp>(op) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
        })
        .wasInterrupted();
  }

  LogicalResult addCommand(Operation *op, size_t program) {
    if (auto send = dyn_cast<SendOp>(op))
      return note(send.getEvent(), begin(send, program, /*isSend=*/true, send.getValue()));
    if (auto receive = dyn_cast<ReceiveOp>(op))
      return note(receive.getEvent(),
                  begin(receive, program, /*isSend=*/false, receive.getValue()));
    if (auto pull = dyn_cast<reprise::PullOp>(op)) {
      FailureOr<size_t> step = begin(pull, program, /*isSend=*/false, pull.getResult());
      if (succeeded(step))
        meeting.wait(program, *step);
      return step;
    }
    if (auto wait = dyn_cast<WaitOp>(op))
      if (auto found = begun.find(wait.getEvent()); found != begun.end())
        meeting.wait(program, found->second);
    return success();
  }

  LogicalResult note(Value event, FailureOr<size_t> step) {
    if (succeeded(step))
      begun[event] = *step;
    return step;
  }

  template <typename Transfer>
  FailureOr<size_t> begin(Transfer transfer, size_t program, bool isSend, Value value) {
    auto peer = numbers.find(transfer.getPeer());
    if (peer == numbers.end())
      return transfer.emitError("there is no device program '") << transfer.getPeer() << "'";
    if (peer->second == program)
      return transfer.emitError("the device program exchanges values with itself");
    if (meeting.size() > kMostSteps)
      return transfer.emitError("the device programs exchange more than 2^21 values");
    size_t step =
        meeting.begin(program, transfers.size(), isSend, peer->second,
                      static_cast<uint32_t>(transfer.getTag()), getByteSize(value.getType()));
    transfers.push_back(transfer);
    return step;
  }

  LogicalResult refuse(const Rendezvous::Finding &finding) {
    Operation *first = transfers[finding.transfers.front().name];
    InFlightDiagnostic error = first->emitError(
        finding.fault == Rendezvous::Fault::NoPartner ? "no other program has the other side of "
        : finding.fault == Rendezvous::Fault::Sizes   ? "the two sides differ in size: "
                                                      : "device programs wait for each other: ");
    describe(*error.getUnderlyingDiagnostic(), first);
    for (Rendezvous::Transfer other : ArrayRef(finding.transfers).drop_front())
      describe(error.attachNote(transfers[other.name]->getLoc()), transfers[other.name]);
    return error;
  }

  static void describe(Diagnostic &text, Operation *op) {
    auto program = op->getParentOfType<ProgramOp>();
    text << "'" << program.getName() << "' ";
    if (auto send = dyn_cast<SendOp>(op))
      text << "sends " << send.getValue().getType() << " to '" << send.getPeer() << "' with tag "
           << static_cast<int64_t>(send.getTag());
    else if (auto receive = dyn_cast<ReceiveOp>(op))
      text << "receives " << receive.getValue().getType() << " from '" << receive.getPeer()
           << "' with tag " << static_cast<int64_t>(receive.getTag());
    else if (auto pull = dyn_cast<reprise::PullOp>(op))
      text << "pulls " << pull.getType() << " from '" << pull.getPeer() << "' with tag "
           << static_cast<int64_t>(pull.getTag());
  }

  ArrayRef<ProgramOp> programs;
  llvm::StringMap<size_t> numbers;
  Rendezvous meeting;
  DenseMap<Value, size_t> begun; ///< by event: the step of the current iteration
  std::vector<Operation *> transfers;
};

} // namespace

LogicalResult verifyExchange(ArrayRef<ProgramOp> programs) {
  return programs.size() < 2 ? success() : ExchangeVerifier(programs).run();
}

} // namespace reprise::exec
