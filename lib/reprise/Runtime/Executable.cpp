// reprise: a bundle on a device, ready to run
#include "reprise/Runtime/Executable.h"

#include "BoundBuffers.h"
#include "RunChecks.h"

#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace reprise::runtime;

static uint64_t aligned(uint64_t bytes) {
  return (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
}

static uint64_t largest(const Bundle &bundle, uint64_t Program::*bytes) {
  uint64_t most = 0;
  for (const Program &program : bundle.programs)
    most = std::max(most, program.*bytes);
  return most;
}

Expected<std::unique_ptr<Executable>> Executable::create(Bundle bundle, const std::string &name,
                                                         unsigned threads, DeviceKind kind) {
  if (Error error = validateBundle(bundle)) // before the bundle's number of threads is read
    return Error::make(name + ": the bundle is malformed: " + error.message());
  Expected<std::unique_ptr<Device>> device =
      makeDevice(kind, threads == 0 ? bundle.threads : threads);
  if (!device)
    return Error::make(name + ": " + device.message());
  return create(std::move(bundle), name, std::move(*device));
}

Expected<std::unique_ptr<Executable>> Executable::create(Bundle bundle, const std::string &name,
                                                         std::unique_ptr<Device> device,
                                                         std::unique_ptr<Endpoint> endpoint) {
  if (Error error = validateBundle(bundle))
    return Error::make(name + ": the bundle is malformed: " + error.message());
  std::unique_ptr<Executable> self(
      new Executable(std::move(bundle), name, std::move(device), std::move(endpoint)));
  if (Error error = self->open()) {
    self->fail(error.message());
    return Error::make(name + ": " + error.message());
  }
  return self;
}

Expected<std::unique_ptr<Executable>> reprise::runtime::loadExecutable(const std::string &path,
                                                                       unsigned threads) {
  Expected<Bundle> bundle = readBundle(path);
  if (!bundle)
    return bundle.error();
  return Executable::create(std::move(*bundle), path, threads);
}

static Error checkCommands(const Bundle &bundle, const Device &device, bool hasEndpoint) {
  if (bundle.countDevices() > 1)
    return Error::make("the bundle has programs for " + std::to_string(bundle.countDevices()) +
                       " devices, and one runs here");
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands) {
      if (Error error = device.canRun(command))
        return error;
      if (isTransfer(command.kind) && !hasEndpoint)
        return Error::make("program '" + program.name + "' exchanges values with '" + command.peer +
                           "', and runs alone");
    }
  return Error::success();
}

/// Checks that a step runs in memory of the caller, whose arguments nothing initializes.
static Error checkBorrowed(const Bundle &bundle, const Device &device) {
  for (const Program &program : bundle.programs)
    if (device.isBorrowed() && program.name != "step" && !program.commands.empty())
      return Error::make("program '" + program.name +
                         "' initializes arguments, and a run in memory of the caller takes only "
                         "arguments that are bound");
  return Error::success();
}

static Error checkMachine(const Bundle &bundle, const Device &device, const Image &image) {
  unsigned threads = device.workers();
  if (threads > bundle.threads && bundle.hasBudget)
    return Error::make("the bundle meets its budget with at most " +
                       std::to_string(bundle.threads) + " threads, got " + std::to_string(threads));
  uint64_t needed = bundle.constants.size() + image.bytes.size();
  if (!device.isBorrowed())
    needed += bundle.persistentBytes() + largest(bundle, &Program::arenaBytes) +
              bundle.workspaceBytes(threads);
  uint64_t available = device.availableMemory();
  if (needed > available)
    return Error::make("a step needs " + reprise::groupDigits(needed) + " bytes of memory, this " +
                       (device.hasHostMemory() ? "machine" : "GPU") + " has " +
                       reprise::groupDigits(available) + " available");
  return Error::success();
}

/// Returns the number of the first image that the device can run, if all programs use this image.
static Expected<size_t> chooseImage(const Bundle &bundle, const Device &device) {
  Error refused = Error::success();
  size_t count = bundle.images.size(), chosen = 0;
  for (; chosen < count; ++chosen) {
    Error error = device.canRun(bundle.images[chosen]);
    if (!error)
      break;
    if (!refused)
      refused = error;
  }
  if (chosen == count)
    return refused;
  for (const Kernel &kernel : bundle.kernels)
    if (kernel.image != chosen)
      return Error::make("kernel '" + kernel.name + "' is for " +
                         bundle.images[kernel.image].target + ", and one device runs here");
  return chosen;
}

static Expected<ExecutableMemory> allocate(const Bundle &bundle, Device &device) {
  ExecutableMemory memory;
  Error failure = Error::success();
  auto take = [&](std::unique_ptr<DeviceMemory> &into, uint64_t bytes, const char *what) {
    if (failure)
      return;
    Expected<std::unique_ptr<DeviceMemory>> allocated = device.allocate(bytes, what);
    if (allocated)
      into = std::move(*allocated);
    else
      failure = allocated.error();
  };
  uint64_t argumentBytes = 0;
  for (const Argument &argument : bundle.arguments)
    argumentBytes += aligned(argument.bytes);
  if (!device.isBorrowed()) {
    take(memory.arguments, argumentBytes, "the arguments");
    take(memory.arena, largest(bundle, &Program::arenaBytes) + 4096, "the arena");
  }
  take(memory.workers, device.workspaceStride(bundle.workerWorkspaceBytes) * device.workers(),
       "the workspace");
  take(memory.constants, bundle.constants.size(), "the constants");
  if (uint64_t bytes = largest(bundle, &Program::hostBytes); bytes != 0 && !failure) {
    Expected<std::unique_ptr<DeviceMemory>> allocated =
        device.allocateHost(bytes, "what waits on the host");
    if (!allocated)
      return allocated.error();
    memory.host = std::move(*allocated);
  }
  if (failure)
    return failure;
  return memory;
}

/// Returns the places of everything in memory that has just been allocated.
static Addresses placesIn(const ExecutableMemory &memory, const Bundle &bundle) {
  Addresses places;
  places.constants = memory.constants->address();
  places.host = memory.host ? memory.host->address() : nullptr;
  if (!memory.arena) { // the caller lends it
    places.arguments.resize(bundle.arguments.size());
    return places;
  }
  places.arena = memory.arena->address();
  uint8_t *next = memory.arguments->address();
  for (const Argument &argument : bundle.arguments) {
    places.arguments.push_back(next);
    next += aligned(argument.bytes);
  }
  return places;
}

/// Returns, per command of an initializer, whether it writes only into bound arguments.
static std::vector<bool> skippedCommands(const Program &program, const std::vector<bool> &isBound) {
  std::vector<bool> skips(program.commands.size());
  if (program.name == "step")
    return skips;
  auto isNeeded = [&](const Operand &operand) {
    const BufferRef &buffer = operand.buffer;
    return (operand.access & Write) && !(buffer.space == Space::Argument && isBound[buffer.index]);
  };
  for (size_t i = 0; i < skips.size(); ++i) {
    const std::vector<Operand> &operands = program.commands[i].operands;
    CommandKind kind = program.commands[i].kind;
    bool isComputed = kind == CommandKind::Kernel || kind == CommandKind::Copy;
    skips[i] = isComputed && std::none_of(operands.begin(), operands.end(), isNeeded);
  }
  return skips;
}

Error Executable::open() {
  if (Error error = checkCommands(manifest, *machine, endpoint != nullptr))
    return error;
  if (Error error = checkBorrowed(manifest, *machine))
    return error;
  Expected<size_t> chosen = chooseImage(manifest, *machine);
  if (!chosen)
    return chosen.error();
  imageIndex = *chosen;
  if (Error error = checkMachine(manifest, *machine, manifest.images[imageIndex]))
    return error;
  Expected<ExecutableMemory> allocated = allocate(manifest, *machine);
  if (!allocated)
    return allocated.error();
  memory = std::move(*allocated);
  places = placesIn(memory, manifest);
  bound.isBound.resize(manifest.arguments.size());
  Expected<std::unique_ptr<DeviceStream>> made = machine->makeStream();
  if (!made)
    return made.error();
  stream = std::move(*made);
  if (Error error =
          writeMemory(places.constants, manifest.constants.data(), manifest.constants.size()))
    return error;
  Expected<std::unique_ptr<DeviceImage>> loaded = machine->load(manifest.images[imageIndex]);
  if (!loaded)
    return loaded.error();
  image = std::move(*loaded);
  manifest.constants = {};
  for (Image &each : manifest.images)
    each.bytes = {};
  return prepare();
}

Error Executable::prepare() {
  for (const Program &program : manifest.programs) {
    Expected<std::unique_ptr<DeviceProgram>> prepared =
        machine->prepare({manifest, program, *image, places, memory.workers->address(),
                          skippedCommands(program, bound.isBound), endpoint.get()});
    if (!prepared)
      return prepared.error();
    programs.push_back(std::move(*prepared));
  }
  return Error::success();
}

Error Executable::bind(size_t index, void *data, uint64_t bytes) {
  const Argument &argument = manifest.arguments[index];
  auto fail = [&](const std::string &why) {
    return Error::make(fileName + ": cannot bind '" + argument.name + "': " + why);
  };
  if (argument.role >= Role::Seed)
    return fail("the runtime sets this argument");
  if (bytes != argument.bytes)
    return fail("the buffer has " + groupDigits(int64_t(bytes)) + " bytes, expected " +
                std::to_string(argument.bytes));
  auto *begin = static_cast<uint8_t *>(data);
  if (reinterpret_cast<uintptr_t>(begin) % bufferAlignment != 0)
    return fail("the buffer is not at a multiple of " + std::to_string(bufferAlignment));
  if (bound.isBound[index] && places.arguments[index] == begin)
    return Error::success();
  // Launches of a borrowed stream have copied their addresses.
  if (Error error = machine->isBorrowed() ? Error::success() : stream->synchronize())
    return fail(error.message());
  places.arguments[index] = begin;
  bound.isBound[index] = true;
  programs.clear();
  bound.isChanged = true;
  return Error::success();
}

uint64_t reprise::runtime::lentBytes(const Bundle &bundle) {
  uint64_t bytes = aligned(largest(bundle, &Program::arenaBytes));
  for (const Argument &argument : bundle.arguments)
    bytes += argument.role >= Role::Seed ? bufferAlignment : 0;
  return std::max(bytes, bufferAlignment);
}

Error Executable::lend(void *memory) {
  auto *begin = static_cast<uint8_t *>(memory);
  if (!machine->isBorrowed())
    return Error::make(fileName + ": the run has memory of its own");
  if (!begin || reinterpret_cast<uintptr_t>(begin) % bufferAlignment != 0)
    return Error::make(fileName + ": the memory is not at a multiple of " +
                       std::to_string(bufferAlignment));
  if (begin == places.arena)
    return Error::success();
  places.arena = begin;
  uint8_t *next = begin + aligned(largest(manifest, &Program::arenaBytes));
  for (size_t i = 0; i < manifest.arguments.size(); ++i)
    if (manifest.arguments[i].role >= Role::Seed)
      places.arguments[i] = std::exchange(next, next + bufferAlignment);
  programs.clear();
  return Error::success();
}

Error Executable::readMemory(void *to, const void *from, uint64_t bytes) {
  if (Error error = stream->copyToHost(to, from, bytes))
    return error;
  return stream->synchronize();
}

Error Executable::writeMemory(void *to, const void *from, uint64_t bytes) {
  if (int64_t value; bytes == sizeof value) {
    std::memcpy(&value, from, sizeof value);
    return stream->store(to, value);
  }
  if (Error error = stream->copyToDevice(to, from, bytes))
    return error;
  return stream->synchronize();
}

Error Executable::takeArgument(size_t index, const void *from, DeviceEvent &arrived,
                               DeviceEvent &taken) {
  if (Error error = stream->wait(arrived))
    return error;
  if (Error error =
          stream->copyWithin(places.arguments[index], from, manifest.arguments[index].bytes))
    return error;
  return stream->record(taken);
}

Error Executable::run(std::string_view name, const std::function<Error()> &beside) {
  return runNamed(name, {}, beside);
}

Error Executable::runToPause(const std::function<Error()> &beside) {
  return runNamed("step", {0, manifest.program("step")->executionsToPause()}, beside);
}

Error Executable::runOn() {
  return runNamed("step", {manifest.program("step")->executionsToPause(), UINT64_MAX}, nullptr);
}

/// A part of a program that runs on a stream.
struct ProgramPart {
  DeviceStream &stream;
  const Program &program;
  DeviceProgram &prepared;
  ExecutionRange range;
  Recorder *times;
  bool isAwaited; ///< whether the run waits for it
};

static Error runPart(const ProgramPart &part, const std::function<Error()> &beside) {
  auto [begin, end] = part.range;
  if (Error error = part.stream.run(part.prepared, begin, end, part.times))
    return error;
  Error error = beside ? beside() : Error::success();
  if (!part.isAwaited)
    return error;
  Error finished = part.stream.synchronize();
  return finished ? finished : error;
}

/// Runs a part command by command, and checks indices before the commands that read them.
static Error runChecked(const ProgramPart &part, Executable &executable, const Addresses &places) {
  const Program &program = part.program;
  uint64_t begin = part.range.begin, at = 0;
  Error failure = Error::success();
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    const Command &command = program.commands[number];
    uint64_t now = at++;
    if (failure || command.indexChecks.empty() || now < part.range.begin || now >= part.range.end)
      return;
    failure = part.stream.run(part.prepared, begin, now, part.times);
    begin = now;
    if (failure)
      return;
    if (Error error = checkIndices(executable, places, command, iterations))
      failure = Error::make("command " + std::to_string(now) +
                            (command.label.empty() ? "" : " (" + command.label + ")") + ": " +
                            error.message());
  });
  if (failure)
    return failure;
  if (Error error = part.stream.run(part.prepared, begin, part.range.end, part.times))
    return error;
  return part.stream.synchronize();
}

Error Executable::runNamed(std::string_view name, ExecutionRange range,
                           const std::function<Error()> &beside) {
  Error error = programs.empty() ? prepare() : Error::success();
  for (size_t i = 0; i < programs.size() && !error; ++i) {
    if (manifest.programs[i].name != name)
      continue;
    range.end = std::min(range.end, programs[i]->executions());
    bool isStep = name == "step";
    Recorder *times = isStep ? recorder : nullptr;
    if (times && range.begin == 0)
      times->clear();
    bool ends = range.end == programs[i]->executions();
    ProgramPart part{*stream, manifest.programs[i],  *programs[i], range,
                     times,   !machine->isBorrowed()};
    if (isStep)
      error = checkBound(bound, manifest, places, range.begin == 0, ends);
    if (!error)
      error = checkIndices ? runChecked(part, *this, places) : runPart(part, beside);
    if (isStep && !error && ends)
      error = compareReplays(*this, places);
  }
  if (error)
    fail(error.message());
  return error;
}
