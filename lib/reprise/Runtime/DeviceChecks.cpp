// reprise: the checks of a bundle with programs of several devices
#include "DeviceChecks.h"

#include "reprise/Support/Rendezvous.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

using namespace reprise::runtime;
using reprise::Rendezvous;

namespace {

constexpr size_t maxDevices = 4096;
constexpr size_t maxSteps = size_t(1) << 22; // limit for all programs that exchange values
constexpr uint64_t maxExecutions = uint64_t(1) << 24;

Error fail(const std::string &message) { return Error::make(message); }

/// The devices that have an argument, by argument.
std::vector<std::set<uint32_t>> findOwners(const Bundle &bundle) {
  std::vector<std::set<uint32_t>> owners(bundle.arguments.size());
  for (uint32_t device = 0; device < bundle.countDevices(); ++device)
    for (uint32_t argument : bundle.devices[device].arguments)
      owners[argument].insert(device);
  return owners;
}

Error checkArguments(const Bundle &bundle) {
  for (const DeviceEntry &device : bundle.devices) {
    const std::vector<uint32_t> &own = device.arguments;
    bool isAscending =
        std::adjacent_find(own.begin(), own.end(), std::greater_equal<uint32_t>()) == own.end();
    if (!isAscending || (!own.empty() && own.back() >= bundle.arguments.size()))
      return fail("the arguments of device '" + device.name + "' are out of order or range");
  }
  return Error::success();
}

/// Checks that no buffer belongs to an argument that its device lacks.
Error checkNames(const Bundle &bundle, const std::vector<std::set<uint32_t>> &owners) {
  auto isOwn = [&](const BufferRef &buffer, uint32_t device) {
    return buffer.space != Space::Argument || owners[buffer.index].count(device) != 0;
  };
  bool areOwn = true;
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands)
      for (const Operand &operand : command.operands)
        areOwn = areOwn && isOwn(operand.buffer, program.device);
  for (const Result &result : bundle.results)
    areOwn = areOwn && isOwn(result.buffer, result.device);
  for (const ReplayCheck &check : bundle.replayChecks)
    areOwn = areOwn && isOwn(check.original, check.device) && isOwn(check.replayed, check.device);
  return areOwn ? Error::success()
                : fail("a command, result or comparison names an argument of another device");
}

Error checkOwners(const Bundle &bundle, const std::vector<std::set<uint32_t>> &owners) {
  for (const Result &result : bundle.results) {
    if (result.argument < 0 || bundle.arguments[result.argument].role == Role::Offset)
      continue;
    for (uint32_t owner : owners[result.argument])
      if (owner != result.device)
        return fail("program '" + bundle.deviceName(owner) + "' reads '" + result.name +
                    "', whose next value '" + bundle.deviceName(result.device) + "' makes");
  }
  for (size_t i = 0; i < owners.size(); ++i)
    if (owners[i].empty())
      return fail("argument '" + bundle.arguments[i].name + "' belongs to no device");
  return Error::success();
}

/// Checker of all steps, with their transfers and waits.
class ExchangeChecker {
public:
  explicit ExchangeChecker(const Bundle &bundle) : bundle(bundle), meeting(bundle.countDevices()) {
    for (uint32_t i = 0; i < bundle.countDevices(); ++i)
      numbers[bundle.deviceName(i)] = i;
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
                    bundle.deviceName(program.device) + "': " + error.message());
    std::map<uint32_t, size_t> begun; // by event
    forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &) {
      const Command &command = program.commands[number];
      auto found = begun.find(command.event);
      if (command.kind == CommandKind::Wait && found != begun.end())
        meeting.wait(program.device, found->second);
      else if (command.kind == CommandKind::Record)
        begun.erase(command.event);
      else if (isTransfer(command.kind))
        begun[command.event] =
            meeting.begin(program.device, number, command.kind == CommandKind::Send,
                          numbers[command.peer], command.tag, command.operands[0].buffer.bytes);
    });
    return meeting.size() > maxSteps ? fail("the programs exchange more than 2^21 values")
                                     : Error::success();
  }

  /// Describes a transfer: "command 3 of 'first', which sends to 'second' with tag 1".
  std::string name(Rendezvous::Transfer transfer) const {
    uint32_t device = uint32_t(transfer.program);
    const Command &command = bundle.program("step", device)->commands[transfer.name];
    return "command " + std::to_string(transfer.name) + " of '" + bundle.deviceName(device) +
           "', which " + (command.kind == CommandKind::Send ? "sends to '" : "receives from '") +
           command.peer + "' with tag " + std::to_string(command.tag);
  }

  Error describe(const Rendezvous::Finding &finding) const {
    std::string all;
    for (Rendezvous::Transfer transfer : finding.transfers)
      all += (all.empty() ? "" : ", and ") + name(transfer);
    switch (finding.fault) {
    case Rendezvous::Fault::NoPartner:
      return fail("no program takes the other side: " + all);
    case Rendezvous::Fault::Sizes:
      return fail("the two sides differ in size: " + all);
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
  for (const DeviceEntry &device : bundle.devices)
    if (device.name.empty() || device.name.find('\0') != std::string::npos ||
        !names.insert(device.name).second)
      return fail("two devices have the same name, or a device has no name");
  if (Error error = checkArguments(bundle))
    return error;
  uint32_t count = bundle.countDevices();
  auto isOfDevice = [&](const auto &each) { return each.device < count; };
  bool isEach = std::all_of(bundle.programs.begin(), bundle.programs.end(), isOfDevice) &&
                std::all_of(bundle.results.begin(), bundle.results.end(), isOfDevice) &&
                std::all_of(bundle.replayChecks.begin(), bundle.replayChecks.end(), isOfDevice);
  return isEach ? Error::success() : fail("a program, result or comparison belongs to no device");
}

Error reprise::runtime::checkExchange(const Bundle &bundle) {
  if (bundle.devices.empty())
    return Error::success();
  std::vector<std::set<uint32_t>> owners = findOwners(bundle);
  if (Error error = checkNames(bundle, owners))
    return error;
  if (Error error = checkOwners(bundle, owners))
    return error;
  return ExchangeChecker(bundle).check();
}
