// reprise: calls, transfers and events as commands of a bundle
#include "ExplicitCommands.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise;

runtime::Operand reprise::scratchAt(ArrayRef<int64_t> place) {
  runtime::Operand scratch;
  scratch.access = runtime::ReadWrite;
  scratch.buffer.offset = place[0];
  scratch.buffer.bytes = place[1];
  return scratch;
}

static void describeCall(exec::CallOp call, PlaceFinder findPlace, runtime::Command &command) {
  command.kind = runtime::CommandKind::Call;
  command.function = call.getFunction().str();
  for (Value input : call.getInputs())
    command.operands.push_back(findPlace(input, runtime::Read));
  for (Value result : call.getResults())
    command.operands.push_back(findPlace(result, runtime::Write));
  if (auto place = call.getScratch())
    command.operands.push_back(scratchAt(*place));
}

template <typename Transfer>
static void describeTransfer(Transfer transfer, PlaceFinder findPlace, runtime::Command &command) {
  bool isSend = std::is_same_v<Transfer, exec::SendOp>;
  command.kind = isSend ? runtime::CommandKind::Send : runtime::CommandKind::Receive;
  command.peer = transfer.getPeer().str();
  command.tag = static_cast<uint32_t>(transfer.getTag());
  command.operands = {findPlace(transfer.getValue(), isSend ? runtime::Read : runtime::Write)};
  command.bytes = command.operands[0].buffer.bytes;
}

/// Returns the host place of an offloaded or fetched value, which `offload` records.
static runtime::Operand findHostPlace(exec::HostOffloadOp offload, runtime::Access access,
                                      uint64_t bytes) {
  runtime::Operand host;
  host.buffer.space = runtime::Space::Host;
  host.buffer.offset = *offload.getPlace();
  host.buffer.bytes = bytes;
  host.access = access;
  return host;
}

static void describeOffload(exec::HostOffloadOp offload, PlaceFinder findPlace,
                            runtime::Command &command) {
  runtime::Operand from = findPlace(offload.getValue(), runtime::Read);
  command.kind = runtime::CommandKind::Offload;
  command.bytes = from.buffer.bytes;
  command.operands = {from, findHostPlace(offload, runtime::Write, command.bytes)};
}

static void describeFetch(exec::HostFetchOp fetch, PlaceFinder findPlace,
                          runtime::Command &command) {
  auto offload = fetch.getHost().getDefiningOp<exec::HostOffloadOp>();
  runtime::Operand to = findPlace(fetch.getValue(), runtime::Write);
  command.kind = runtime::CommandKind::Fetch;
  command.bytes = to.buffer.bytes;
  command.operands = {findHostPlace(offload, runtime::Read, command.bytes), to};
}

runtime::Command reprise::describeExplicit(Operation *op, PlaceFinder findPlace,
                                           DenseMap<Value, uint32_t> &events) {
  runtime::Command command;
  command.stream = static_cast<uint32_t>(exec::getStream(op));
  command.label = op->getName().stripDialect();
  Value event = exec::getEventBeside(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](exec::CallOp call) { describeCall(call, findPlace, command); })
      .Case([&](exec::SendOp send) { describeTransfer(send, findPlace, command); })
      .Case([&](exec::ReceiveOp receive) { describeTransfer(receive, findPlace, command); })
      .Case([&](exec::HostOffloadOp offload) { describeOffload(offload, findPlace, command); })
      .Case([&](exec::HostFetchOp fetch) { describeFetch(fetch, findPlace, command); })
      .Case([&](exec::RecordOp record) {
        command.kind = runtime::CommandKind::Record;
        event = record.getEvent();
      })
      .Case([&](exec::WaitOp wait) {
        command.kind = runtime::CommandKind::Wait;
        event = wait.getEvent();
      });
  if (event)
    command.event = events.try_emplace(event, static_cast<uint32_t>(events.size())).first->second;
  return command;
}
