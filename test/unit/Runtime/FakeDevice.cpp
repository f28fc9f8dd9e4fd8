// reprise: a device without host memory that records its calls
#include "FakeDevice.h"
#include "TestBundle.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace reprise::runtime;
using namespace reprise::runtime::test;

namespace {

/// Distance of device addresses from the bytes that stand for them: device addresses lie in the
/// half of the address space that no process has.
constexpr uint64_t distance = uint64_t(1) << 62;

uint8_t *toHost(const void *address) {
  return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(address) - distance);
}

class FakeMemory : public DeviceMemory {
public:
  FakeMemory(DeviceLog &log, uint64_t bytes) : DeviceMemory(nullptr, bytes), log(log) {
    bytes = (bytes + 63) / 64 * 64 + 64;
    own = static_cast<uint8_t *>(std::aligned_alloc(64, bytes));
    std::memset(own, 0, bytes);
    begin = reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(own) + distance);
    log.allocated += length;
  }
  ~FakeMemory() override {
    log.allocated -= length;
    std::free(own);
  }

private:
  DeviceLog &log;
  uint8_t *own;
};

struct FakeImage : DeviceImage {};

struct FakeProgram : DeviceProgram {
  struct Step {
    CommandKind kind;
    uint32_t kernel; // kernel, or a copy of `copied` bytes
    int64_t items;
    uint64_t copied;
    std::vector<uint8_t *> operands;
    uint32_t event;
  };
  uint64_t executions() const override { return steps.size(); }
  std::string name;
  std::vector<Step> steps;
};

struct FakeEvent : DeviceEvent {
  bool happened = false;
};

void runKernel(const FakeProgram::Step &step) {
  auto number = [&](size_t operand, int64_t i) -> float & {
    return reinterpret_cast<float *>(toHost(step.operands[operand]))[i];
  };
  auto whole = [&](size_t operand, int64_t i) -> int64_t & {
    return reinterpret_cast<int64_t *>(toHost(step.operands[operand]))[i];
  };
  for (int64_t i = 0; i < step.items; ++i)
    switch (step.kernel) {
    case Add:
      number(2, i) = number(0, i) + number(1, i);
      break;
    case Half:
      number(1, i) = number(0, i) * 0.5f;
      break;
    case Fill:
      number(1, i) = float(100 * whole(0, 0) + i);
      break;
    case Advance:
      whole(1, i) = whole(0, i) + 8;
      break;
    case Gather:
      number(2, i) = number(0, whole(1, i));
      break;
    default:
      std::abort();
    }
}

/// Runs the only function of the fake library: it doubles a number, by way of its workspace.
void runExplicit(const FakeProgram::Step &step, std::vector<uint32_t> &events) {
  bool isGiven = std::count(events.begin(), events.end(), step.event) != 0;
  if (step.kind == CommandKind::Record)
    events.push_back(step.event);
  else if (step.kind == CommandKind::Wait && !isGiven)
    std::abort();
  if (step.kind != CommandKind::Call)
    return;
  auto number = [&](size_t operand) {
    return reinterpret_cast<float *>(toHost(step.operands[operand]));
  };
  *number(2) = *number(0);
  *number(1) = *number(0) + *number(2);
}

class FakeStream : public DeviceStream {
public:
  explicit FakeStream(DeviceLog &log) : log(log) {}

  Error run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *) override {
    auto &fake = static_cast<FakeProgram &>(program);
    return give("run " + fake.name, [&fake, begin, end] {
      std::vector<uint32_t> events;
      for (uint64_t i = begin; i < end; ++i) {
        const FakeProgram::Step &step = fake.steps[i];
        if (isExplicit(step.kind))
          runExplicit(step, events);
        else if (step.copied != 0)
          std::memcpy(toHost(step.operands[1]), toHost(step.operands[0]), step.copied);
        else
          runKernel(step);
      }
    });
  }
  Error copyToDevice(void *to, const void *from, uint64_t bytes) override {
    return give("to device " + std::to_string(bytes),
                [=] { std::memcpy(toHost(to), from, bytes); });
  }
  Error copyToHost(void *to, const void *from, uint64_t bytes) override {
    return give("to host " + std::to_string(bytes), [=] { std::memcpy(to, toHost(from), bytes); });
  }
  Error copyWithin(void *to, const void *from, uint64_t bytes) override {
    return give("within " + std::to_string(bytes),
                [=] { std::memcpy(toHost(to), toHost(from), bytes); });
  }
  Error record(DeviceEvent &event) override {
    return give("record", [&event] { static_cast<FakeEvent &>(event).happened = true; });
  }
  Error wait(DeviceEvent &event) override {
    return give("wait", [&event] {
      if (!static_cast<FakeEvent &>(event).happened)
        std::abort();
    });
  }
  Error synchronize() override {
    for (const auto &each : work)
      each();
    work.clear();
    return log.failOn == "synchronize" ? Error::make("the device is gone") : Error::success();
  }

private:
  Error give(const std::string &call, std::function<void()> what) {
    log.calls.push_back(call);
    if (log.failOn == call)
      return Error::make("the device is gone");
    work.push_back(std::move(what));
    return Error::success();
  }
  DeviceLog &log;
  std::vector<std::function<void()>> work;
};

class FakeDevice : public Device {
public:
  explicit FakeDevice(DeviceLog &log) : log(log) {}
  std::string name() const override { return "fake"; }
  Error canRun(const Image &image) const override {
    return image.target == "fake" ? Error::success()
                                  : Error::make("'" + image.target + "' is not for a fake device");
  }
  Error canRun(const Command &command) const override {
    bool isDouble = command.kind == CommandKind::Call && command.function == "fakeDouble";
    bool isOfStream = command.kind == CommandKind::Record || command.kind == CommandKind::Wait;
    return isDouble || isOfStream ? Error::success() : Device::canRun(command);
  }
  bool hasHostMemory() const override { return false; }
  uint64_t availableMemory() const override { return uint64_t(1) << 30; }
  unsigned workers() const override { return 1; }
  Expected<MachineRates> measureRates() override { return MachineRates{1e9, 1e9}; }
  Expected<std::unique_ptr<DeviceMemory>> allocate(uint64_t bytes,
                                                   const std::string &what) override {
    log.calls.push_back("allocate " + what);
    if (log.failOn == log.calls.back())
      return Error::make("no memory for " + what);
    return std::unique_ptr<DeviceMemory>(new FakeMemory(log, bytes));
  }
  Expected<std::unique_ptr<DeviceImage>> load(const Image &image) override {
    log.calls.push_back("load " + image.target);
    return std::unique_ptr<DeviceImage>(new FakeImage());
  }
  Expected<std::unique_ptr<DeviceProgram>> prepare(const ProgramPlaces &places) override {
    auto program = std::make_unique<FakeProgram>();
    program->name = places.program.name;
    log.calls.push_back("prepare " + program->name);
    forEachExecution(places.program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
      const Command &command = places.program.commands[number];
      FakeProgram::Step step = {command.kind, command.kernel, command.items, 0, {}, command.event};
      if (places.skips[number])
        step.items = 0;
      for (const Operand &operand : command.operands)
        step.operands.push_back(places.addresses.of(operand, iterations));
      if (command.kind == CommandKind::Copy)
        step.copied = command.operands[0].buffer.bytes;
      program->steps.push_back(std::move(step));
    });
    return std::unique_ptr<DeviceProgram>(std::move(program));
  }
  uint64_t workspaceStride(uint64_t workerBytes) const override { return workerBytes; }
  Expected<std::unique_ptr<DeviceStream>> makeStream() override {
    return std::unique_ptr<DeviceStream>(new FakeStream(log));
  }
  Expected<std::unique_ptr<DeviceEvent>> makeEvent() override {
    return std::unique_ptr<DeviceEvent>(new FakeEvent());
  }
  std::vector<std::unique_ptr<DeviceMemory>> ofCallers;

private:
  DeviceLog &log;
};

} // namespace

std::unique_ptr<Device> test::makeFakeDevice(DeviceLog &log) {
  return std::make_unique<FakeDevice>(log);
}

uint8_t *test::fakeAddress(Device &device, uint64_t bytes) {
  auto &memory = static_cast<FakeDevice &>(device).ofCallers;
  memory.push_back(std::move(*device.allocate(bytes, "the caller")));
  return memory.back()->address();
}

float test::fakeValue(Device &, const void *address) {
  float value;
  std::memcpy(&value, toHost(address), sizeof value);
  return value;
}

void test::setFakeValue(Device &, void *address, float value) {
  std::memcpy(toHost(address), &value, sizeof value);
}
