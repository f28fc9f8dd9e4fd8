// reprise: the checks of a bundle with programs of several devices
#include "DeviceChecks.h"

#include "reprise/Support/Rendezvous.h"

#include <algorithm>
#include <map>
#include <set>

using namespace reprise::runtime;
using reprise::Rendezvous;

namespace {

constexpr size_t maxDevices = 4096;
constexpr size_t maxSteps = size_t(1) << 22; // of all programs that exchange values
constexpr uint64_t maxExecutions = uint64_t(1) << 24;

Error fail(const std::string &message) { return Error::make(message); }

/// The devices whose commands or results name an argument.
std::vector<std::set<uint32_t>> findOwners(const Bundle &bundle) {
  std::vector<std::set<uint32_t>> owners(bundle.arguments.size());
  auto note = [&](const BufferRef &buffer, uint32_t device) {
    if (buffer.space == Space::Argument)
      owners[buffer.index].insert(device);
  };
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands)
      for (const Operand &operand : command.operands)
        note(operand.buffer, program.device);
  for (const Result &result : bundle.results)
    note(result.buffer, result.device);
  return owners;
}

Error checkOwners(const Bundle &bundle) {
  std::vector<std::set<uint32_t>> owners = findOwners(bundle);
  for (const Result &result : bundle.results) {
    if (result.argument < 0 || bundle.arguments[result.argument].role == Role::Offset)
      continue;
    for (uint32_t owner : owners[result.argument])
      if (owner != result.device)
        return fail("program '" + bundle.devices[owner] + "' reads '" + result.name +
                    "', whose next value '" + bundle.devices[result.device] + "' makes");
  }
  return Error::success();
}

/// All steps, with what they begin and wait for.
class ExchangeChecker {
public:
  explicit ExchangeChecker(const Bundle &bundle)
      : bundle(bundle), meeting(bundle.countDevices()) {
    for (uint32_t i = 0; i < bundle.countDevices(); ++i)
      numbers[bundle.devices[i]] = i;
  }

  Error check() {
    for (const Program &program : bundle.programs)
      if (Error error = add(program))
        return error;
    std::optional<Rendezvous::Finding> finding = meeting.check();
    return finding ? describe(*finding) : Error::success();
  }

private:
  Error add(const Program &program) {
    if (!program.hasExplicit())
      return Error::success();
    if ((executions += program.executions()) > maxExecutions)
      return fail("the programs that exchange values run too many commands");
    for (size_t i = 0; i < program.commands.size(); ++i)
      if (Error error = checkPeer(program, program.commands[i]))
        return fail("command " + std::to_string(i) + " of program '" + program.name + "' of '" +
                    bundle.devices[program.device] + "': " + error.message());
    std::map<uint32_t, size_t> begun; // by event
    forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &) {
      const Command &command = program.commands[number];
      auto found = begun.find(command.event);
      if (command.kind == CommandKind::Wait && found != begun.end())
        meeting.wait(program.device, found->second);
      else if (command.kind == CommandKind::Record)
        begun.erase(command.event);
      else if (isTransfer(command.kind))
        begun[command.event] = meeting.begin(
            program.device, number, command.kind == CommandKind::Send, numbers[command.peer],
            command.tag, command.operands[0].buffer.bytes);
    });
    return meeting.size() > maxSteps ? fail("the programs exchange more than 2^21 values")
                                     : Error::success();
  }

  /// As in "command 3 of 'first', which sends to 'second' with tag 1".
  std::string name(Rendezvous::Transfer transfer) const {
    uint32_t device = uint32_t(transfer.program);
    const Command &command = bundle.program("step", device)->commands[transfer.name];
    return "command " + std::to_string(transfer.name) + " of '" + bundle.devices[device] +
           "', which " +
           (command.kind == CommandKind::Send ? "sends to '" : "receives from '") + command.peer +
           "' with tag " + std::to_string(command.tag);
  }

  Error describe(const Rendezvous::Finding &finding) const {
    std::string all;
    for (Rendezvous::Transfer transfer : finding.transfers)
      all += (all.empty() ? "" : ", and ") + name(transfer);
    switch (finding.fault) {
    case Rendezvous::Fault::NoPartner:
      return fail("nothing meets " + all);
    case Rendezvous::Fault::Sizes:
      return fail("the sizes differ of " + all);
    case Rendezvous::Fault::Deadlock:
      return fail("programs wait for each other: " + all);
    }
    return Error::success();
  }

  Error checkPeer(const Program &program, const Command &command) const {
    if (!isTransfer(command.kind))
      return Error::success();
    auto peer = numbers.find(command.peer);
    if (peer == numbers.end())
      return fail("there is no program '" + command.peer + "' to exchange values with");
    if (peer->second == program.device)
      return fail("the program exchanges values with itself");
    return program.name == "step" ? Error::success() : fail("only steps exchange values");
  }

  const Bundle &bundle;
  std::map<std::string, uint32_t> numbers;
  Rendezvous meeting;
  uint64_t executions = 0;
};

} // namespace

Error reprise::runtime::checkDevices(const Bundle &bundle) {
  if (bundle.devices.size() == 1 || bundle.devices.size() > maxDevices)
    return fail("the number of devices is out of range");
  std::set<std::string> names;
  for (const std::string &name : bundle.devices)
    if (name.empty() || name.find('\0') != std::string::npos || !names.insert(name).second)
      return fail("two devices have the same name, or one has none");
  uint32_t count = bundle.countDevices();
  auto isOfDevice = [&](const auto &each) { return each.device < count; };
  bool isEach = std::all_of(bundle.programs.begin(), bundle.programs.end(), isOfDevice) &&
                std::all_of(bundle.results.begin(), bundle.results.end(), isOfDevice) &&
                std::all_of(bundle.replayChecks.begin(), bundle.replayChecks.end(), isOfDevice);
  return isEach ? Error::success() : fail("a program, result or comparison is of no device");
}

Error reprise::runtime::checkExchange(const Bundle &bundle) {
  if (bundle.devices.empty())
    return Error::success();
  if (Error error = checkOwners(bundle))
    return error;
  return ExchangeChecker(bundle).check();
}
