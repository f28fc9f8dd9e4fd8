// reprise: the checks of library calls, transfers and events in a bundle
#include "CommandChecks.h"

#include "reprise/Support/AccessOrder.h"
#include "reprise/Support/LibraryCall.h"

#include <map>

using namespace reprise;
using namespace reprise::runtime;

namespace {

constexpr uint64_t maxOrdered = uint64_t(1) << 20;

Error fail(const std::string &message) { return Error::make(message); }

bool isName(const std::string &name) {
  return !name.empty() && name.find('\0') == std::string::npos;
}

Error checkTransfer(const Command &command) {
  bool isSend = command.kind == CommandKind::Send;
  if (!isName(command.peer))
    return fail(std::string("a ") + commandName(command.kind) + " without the name of a peer");
  if (command.tag > maxTag)
    return fail("tag " + std::to_string(command.tag) + " is out of range");
  if (command.operands.size() != 1 || command.operands[0].access != (isSend ? Read : Write))
    return fail(isSend ? "a send is of one buffer, which it reads"
                       : "a receive is into one buffer, which it writes");
  return Error::success();
}

/// Checks a host move; another function checks that it is a copy.
Error checkHostMove(const Command &command) {
  bool isOffload = command.kind == CommandKind::Offload;
  for (size_t i = 0; i < command.operands.size(); ++i)
    if ((command.operands[i].buffer.space == Space::Host) != (isOffload == (i == 1)))
      return fail(isOffload ? "an offload is from the device to the memory of the host"
                            : "a fetch is from the memory of the host to the device");
  return Error::success();
}

Error checkBuffers(const Command &command, const std::vector<uint64_t> &bytes) {
  constexpr Access accesses[] = {Read, Read, Write, ReadWrite, Read};
  if (command.operands.size() != bytes.size())
    return fail("a call of '" + command.function + "' has " +
                std::to_string(command.operands.size()) + " operands");
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Operand &operand = command.operands[i];
    bool isAligned = operand.buffer.offset % callAlignment == 0;
    for (int64_t stride : operand.strides)
      isAligned &= stride % callAlignment == 0;
    // A copy that the launch has made lies in its scratch, which counts as written as well.
    bool isAccessed = (operand.access & accesses[i]) == accesses[i];
    if (!isAccessed || operand.buffer.bytes < bytes[i] || !isAligned)
      return fail("operand " + std::to_string(i) + " of a call of '" + command.function +
                  "' does not match the numbers of the call");
  }
  return Error::success();
}

/// Checks that the buffers of a call are those that its numbers describe.
Error checkHostBuffers(const Command &command, const HostCall &call) {
  auto fault = [&](size_t i) {
    return fail("operand " + std::to_string(i) + " of a call of '" + command.function +
                "' does not match the numbers of the call");
  };
  size_t next = 0;
  for (const std::vector<HostCall::Tensor> *tensors : {&call.operands, &call.results})
    for (const HostCall::Tensor &tensor : *tensors) {
      if (!tensor.isPresent)
        continue;
      if (next == command.operands.size())
        return fault(next);
      const Operand &operand = command.operands[next];
      Access wanted = tensors == &call.operands ? Read : Write;
      bool isAccessed = (operand.access & wanted) == wanted;
      if (!isAccessed || operand.buffer.bytes < *tensor.size() * elementBytes(DType(tensor.type)))
        return fault(next);
      ++next;
    }
  return next == command.operands.size() ? Error::success() : fault(next);
}

/// A function that no device knows is refused when the bundle is loaded.
Error checkCall(const Command &command) {
  if (!isName(command.function))
    return fail("a library call without the name of a function");
  auto isNone = [&] { return fail("malformed numbers of a call of '" + command.function + "'"); };
  if (LibraryConvolution::isFunction(command.function)) {
    auto convolution = LibraryConvolution::from(command.numbers);
    return convolution ? checkBuffers(command, convolution->bytes(command.function)) : isNone();
  }
  if (HostCall::isFunction(command.function)) {
    auto call = HostCall::from(command.numbers);
    return call ? checkHostBuffers(command, *call) : isNone();
  }
  if (command.function != MatrixProduct::function)
    return command.numbers.empty()
               ? Error::success()
               : fail("numbers for the unknown function '" + command.function + "'");
  std::optional<MatrixProduct> product = MatrixProduct::from(command.numbers);
  return product ? checkBuffers(command, product->bytes()) : isNone();
}

/// Walks through a program with vector clocks.
class OrderChecker {
public:
  explicit OrderChecker(const Program &program) : program(program), order(maxStreams) {}

  Error check() {
    Error failure = Error::success();
    forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
      if (failure)
        return;
      if (Error error = run(number, iterations))
        failure = fail("command " + std::to_string(number) + ": " + error.message());
    });
    if (failure)
      return failure;
    for (const auto &[number, event] : events)
      if (event.isInFlight)
        return fail("no command waits for event " + std::to_string(number) + " of command " +
                    std::to_string(event.giver));
    return Error::success();
  }

private:
  struct Event {
    reprise::AccessOrder::Clock clock;
    bool isInFlight; ///< whether a command beside others has not been waited for
    uint32_t giver;
  };

  Error run(uint32_t number, const std::vector<int64_t> &iterations) {
    const Command &command = program.commands[number];
    if (command.kind == CommandKind::Wait)
      return wait(command);
    if (command.kind == CommandKind::Record)
      return give(number, {order.record(command.stream), false, number});
    reprise::AccessOrder::Actor actor =
        runsBeside(command.kind) ? order.beside(command.stream) : order.onStream(command.stream);
    if (order.transferLanes() > kMostTransfers)
      return fail("more than " + std::to_string(kMostTransfers) + " transfers are in flight");
    // Reads of a command come before its own writes and do not conflict with them.
    for (bool isWrite : {false, true})
      for (const Operand &operand : command.operands)
        if (bool(operand.access & Write) == isWrite)
          if (Error error = access(actor, operand, iterations, number))
            return error;
    return runsBeside(command.kind) ? give(number, {actor.known, true, number}) : Error::success();
  }

  Error access(const reprise::AccessOrder::Actor &actor, const Operand &operand,
               const std::vector<int64_t> &iterations, uint32_t number) {
    const BufferRef &buffer = operand.buffer;
    uint64_t space = uint64_t(buffer.space) << 32 | buffer.index;
    uint64_t begin = offsetIn(operand, iterations);
    bool isWrite = operand.access & Write;
    std::optional<uint64_t> other =
        order.access(actor, {space, begin, begin + buffer.bytes}, isWrite, number);
    if (!other)
      return Error::success();
    return fail(std::string(isWrite ? "writes" : "reads") + " bytes that command " +
                std::to_string(*other) + " (" + commandName(program.commands[*other].kind) +
                ") may still use: no wait is between them");
  }

  Error give(uint32_t number, Event event) {
    uint32_t name = program.commands[number].event;
    auto [given, isNew] = events.try_emplace(name, event);
    if (!isNew && given->second.isInFlight)
      return fail("event " + std::to_string(name) + " is given again before anything waits for it");
    given->second = std::move(event);
    return Error::success();
  }

  Error wait(const Command &command) {
    auto event = events.find(command.event);
    if (event == events.end())
      return fail("waits for event " + std::to_string(command.event) + ", which nothing gives");
    event->second.isInFlight = false;
    order.wait(command.stream, event->second.clock);
    return Error::success();
  }

  const Program &program;
  reprise::AccessOrder order;
  std::map<uint32_t, Event> events;
};

} // namespace

Error reprise::runtime::checkExplicit(const Command &command) {
  CommandKind kind = command.kind;
  bool givesEvent = runsBeside(kind) || kind == CommandKind::Record || kind == CommandKind::Wait;
  if (command.stream >= (isExplicit(kind) ? maxStreams : 1))
    return fail("stream " + std::to_string(command.stream) + " is out of range");
  if (command.event >= (givesEvent ? maxEvents : 1))
    return fail("event " + std::to_string(command.event) + " is out of range");
  if (isTransfer(kind) ? bool(checkTransfer(command)) : command.tag != 0 || !command.peer.empty())
    return isTransfer(kind) ? checkTransfer(command) : fail("a peer without a transfer");
  if (kind == CommandKind::Call)
    if (Error error = checkCall(command))
      return error;
  if (kind != CommandKind::Call && (!command.function.empty() || !command.numbers.empty()))
    return fail("a function without a library call");
  if (!isExplicit(kind))
    return Error::success();
  if (isHostMove(kind))
    if (Error error = checkHostMove(command))
      return error;
  if (command.kernel != 0 || command.items != 0 || !command.indexChecks.empty())
    return fail(std::string("a ") + commandName(kind) + " has a kernel, items or index checks");
  if ((kind == CommandKind::Record || kind == CommandKind::Wait) && !command.operands.empty())
    return fail(std::string("a ") + commandName(kind) + " has operands");
  return Error::success();
}

Error reprise::runtime::checkOrder(const Program &program) {
  if (!program.hasExplicit())
    return Error::success();
  if (program.executions() > maxOrdered)
    return fail("transfers, events or library calls among more than 2^20 commands");
  return OrderChecker(program).check();
}
