// reprise: a total order of the transfers of a bundle's programs
#include "TransferOrder.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

using namespace reprise::runtime;

namespace {

/// Step of a program: after `work`, it begins a transfer or waits for it.
struct Step {
  uint64_t work;
  size_t transfer; ///< number among all programs
  bool isWait;
};

struct Meeting {
  uint64_t bytes = 0;
  std::vector<std::pair<uint32_t, uint32_t>> sides; ///< device, and number among its transfers
  unsigned begun = 0;
  uint64_t time = 0; ///< time at which the second side has begun
};

class Clock {
public:
  explicit Clock(const Bundle &bundle) : steps(bundle.countDevices()) {
    for (uint32_t i = 0; i < bundle.countDevices(); ++i)
      numbers[bundle.deviceName(i)] = i;
    for (const Program &program : bundle.programs)
      if (program.hasExplicit())
        add(program);
  }
  std::vector<std::vector<uint32_t>> run();

private:
  void add(const Program &program);
  size_t meet(const Program &program, const Command &command, uint32_t number);
  bool pass(uint64_t &now, const Step &step);

  std::map<std::string, uint32_t> numbers; ///< numbers of devices
  std::vector<std::vector<Step>> steps;    ///< steps by device
  std::vector<Meeting> meetings;
  /// Transfers with one begun side, by sender, receiver, tag, and begun side.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, bool>, std::deque<size_t>> open;
  /// Time, number and meeting, numbered as their second sides began.
  std::vector<std::tuple<uint64_t, size_t, size_t>> met;
};

/// The k-th send of a line meets the k-th receive.
size_t Clock::meet(const Program &program, const Command &command, uint32_t number) {
  bool isSend = command.kind == CommandKind::Send;
  uint32_t peer = numbers.at(command.peer);
  uint32_t from = isSend ? program.device : peer, to = isSend ? peer : program.device;
  std::deque<size_t> &own = open[{from, to, command.tag, isSend}];
  size_t meeting = 0;
  if (own.empty()) {
    meeting = meetings.size();
    meetings.push_back({command.operands[0].buffer.bytes, {}, 0, 0});
    open[{from, to, command.tag, !isSend}].push_back(meeting);
  } else {
    meeting = own.front();
    own.pop_front();
  }
  meetings[meeting].sides.push_back({program.device, number});
  return meeting;
}

void Clock::add(const Program &program) {
  std::map<uint32_t, size_t> begun; // by event
  uint64_t work = 0;
  uint32_t number = 0;
  forEachExecution(program, [&](uint32_t at, const std::vector<int64_t> &) {
    const Command &command = program.commands[at];
    auto found = begun.find(command.event);
    if (command.kind == CommandKind::Kernel || command.kind == CommandKind::Copy) {
      for (const Operand &operand : command.operands)
        work += operand.buffer.bytes;
    } else if (isTransfer(command.kind)) {
      size_t meeting = begun[command.event] = meet(program, command, number++);
      steps[program.device].push_back({work, meeting, false});
      work = 0;
    } else if (command.kind == CommandKind::Record && found != begun.end()) {
      begun.erase(found);
    } else if (command.kind == CommandKind::Wait && found != begun.end()) {
      steps[program.device].push_back({work, found->second, true});
      work = 0;
    }
  });
}

/// Runs a step; returns false if it waits for a side that has not begun.
bool Clock::pass(uint64_t &now, const Step &step) {
  Meeting &meeting = meetings[step.transfer];
  if (step.isWait && meeting.begun < 2)
    return false;
  now += step.work;
  if (step.isWait) {
    now = std::max(now, meeting.time + meeting.bytes);
    return true;
  }
  meeting.time = std::max(meeting.time, now);
  if (++meeting.begun == 2)
    met.emplace_back(meeting.time, met.size(), step.transfer);
  return true;
}

/// Simulates all programs. A wait ends no earlier than the time of its transfer. A transfer that
/// begins behind a wait therefore has no earlier time than the awaited transfer, and at equal times
/// it meets later.
std::vector<std::vector<uint32_t>> Clock::run() {
  std::vector<size_t> at(steps.size());
  std::vector<uint64_t> now(steps.size());
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (size_t device = 0; device < steps.size(); ++device)
      while (at[device] < steps[device].size() && pass(now[device], steps[device][at[device]])) {
        ++at[device];
        hasMoved = true;
      }
  }
  std::sort(met.begin(), met.end());
  std::vector<std::vector<uint32_t>> order(steps.size());
  for (auto [time, number, meeting] : met)
    for (auto [device, own] : meetings[meeting].sides)
      order[device].push_back(own);
  return order;
}

} // namespace

std::vector<std::vector<uint32_t>> reprise::runtime::orderTransfers(const Bundle &bundle) {
  return Clock(bundle).run();
}
