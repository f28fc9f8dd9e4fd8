// reprise: a bundle on a device, ready to run
#include "reprise/Runtime/Executable.h"

#include "BoundBuffers.h"

#include "reprise/Runtime/Npy.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <cstring>

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

Expected<std::unique_ptr<Executable>> Executable::load(const std::string &path, unsigned threads) {
  Expected<Bundle> bundle = readBundle(path);
  if (!bundle)
    return bundle.error();
  return create(std::move(*bundle), path, threads);
}

Expected<std::unique_ptr<Executable>> Executable::create(Bundle bundle, const std::string &name,
                                                         unsigned threads, DeviceKind kind) {
  if (Error error = validateBundle(bundle)) // before it says how many threads
    return Error::make(name + ": the bundle is malformed: " + error.message());
  Expected<std::unique_ptr<Device>> device =
      makeDevice(kind, 0, threads == 0 ? bundle.threads : threads);
  if (!device)
    return Error::make(name + ": " + device.message());
  return make(std::move(bundle), name, std::move(*device), nullptr);
}

Expected<std::unique_ptr<Executable>> Executable::create(Bundle bundle, const std::string &name,
                                                         std::unique_ptr<Device> device,
                                                         std::unique_ptr<Endpoint> endpoint) {
  if (Error error = validateBundle(bundle))
    return Error::make(name + ": the bundle is malformed: " + error.message());
  return make(std::move(bundle), name, std::move(device), std::move(endpoint));
}

Expected<std::unique_ptr<Executable>> Executable::make(Bundle bundle, const std::string &name,
                                                       std::unique_ptr<Device> device,
                                                       std::unique_ptr<Endpoint> endpoint) {
  std::unique_ptr<Executable> self(
      new Executable(std::move(bundle), name, std::move(device), std::move(endpoint)));
  Error (Executable::*const parts[])() = {&Executable::checkCommands, &Executable::chooseImage,
                                          &Executable::allocate, &Executable::loadContents,
                                          &Executable::prepare};
  for (auto part : parts)
    if (Error error = (self.get()->*part)()) {
      self->fail(error.message());
      return Error::make(name + ": " + error.message());
    }
  return self;
}

Error Executable::checkCommands() {
  if (manifest.countDevices() > 1)
    return Error::make("the bundle has programs for " + std::to_string(manifest.countDevices()) +
                       " devices, and one runs here");
  for (const Program &program : manifest.programs)
    for (const Command &command : program.commands) {
      if (Error error = machine->canRun(command))
        return error;
      if (isTransfer(command.kind) && !endpoint)
        return Error::make("program '" + program.name + "' exchanges values with '" + command.peer +
                           "', and runs alone");
    }
  return Error::success();
}

/// The first image that the device can run, if all programs are of it.
Error Executable::chooseImage() {
  Error refused = Error::success();
  size_t count = manifest.images.size();
  for (imageIndex = 0; imageIndex < count; ++imageIndex) {
    Error error = machine->canRun(manifest.images[imageIndex]);
    if (!error)
      break;
    if (!refused)
      refused = error;
  }
  if (imageIndex == count)
    return refused;
  for (const Kernel &kernel : manifest.kernels)
    if (kernel.image != imageIndex)
      return Error::make("kernel '" + kernel.name + "' is for " +
                         manifest.images[kernel.image].target + ", and one device runs here");
  return checkMachine();
}

Error Executable::checkMachine() const {
  unsigned threads = machine->workers();
  if (threads > manifest.threads && manifest.hasBudget)
    return Error::make("the bundle meets its budget with at most " +
                       std::to_string(manifest.threads) + " threads, got " +
                       std::to_string(threads));
  uint64_t needed = manifest.persistentBytes() + largest(manifest, &Program::arenaBytes) +
                    manifest.workspaceBytes(threads) + manifest.constants.size() +
                    manifest.images[imageIndex].bytes.size();
  uint64_t available = machine->availableMemory();
  if (needed > available)
    return Error::make("a step needs " + groupDigits(needed) + " bytes of memory, this " +
                       (machine->hasHostMemory() ? "machine" : "GPU") + " has " +
                       groupDigits(available) + " available");
  return Error::success();
}

Error Executable::allocate() {
  Error failure = Error::success();
  auto take = [&](std::unique_ptr<DeviceMemory> &into, uint64_t bytes, const char *what) {
    if (failure)
      return;
    Expected<std::unique_ptr<DeviceMemory>> memory = machine->allocate(bytes, what);
    if (memory)
      into = std::move(*memory);
    else
      failure = memory.error();
  };
  uint64_t argumentBytes = 0;
  for (const Argument &argument : manifest.arguments)
    argumentBytes += aligned(argument.bytes);
  take(argumentMemory, argumentBytes, "the arguments");
  take(arenaMemory, largest(manifest, &Program::arenaBytes) + 4096, "the arena");
  take(workerMemory, machine->workspaceStride(manifest.workerWorkspaceBytes) * machine->workers(),
       "the workspace");
  take(constantMemory, manifest.constants.size(), "the constants");
  if (uint64_t bytes = largest(manifest, &Program::hostBytes); bytes != 0 && !failure) {
    Expected<std::unique_ptr<DeviceMemory>> memory =
        machine->allocateHost(bytes, "what waits on the host");
    if (!memory)
      return memory.error();
    hostMemory = std::move(*memory);
    places.host = hostMemory->address();
  }
  if (failure)
    return failure;
  places.arena = arenaMemory->address();
  places.constants = constantMemory->address();
  uint8_t *next = argumentMemory->address();
  for (const Argument &argument : manifest.arguments) {
    places.arguments.push_back(next);
    next += aligned(argument.bytes);
  }
  bound.resize(manifest.arguments.size());
  return Error::success();
}

/// Constants and image go from the manifest to where kernels find them.
Error Executable::loadContents() {
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
  return Error::success();
}

/// Of an initializer: what writes into bound arguments only.
std::vector<bool> Executable::skippedCommands(const Program &program) const {
  std::vector<bool> skips(program.commands.size());
  if (program.name == "step")
    return skips;
  auto isNeeded = [&](const Operand &operand) {
    const BufferRef &buffer = operand.buffer;
    return (operand.access & Write) && !(buffer.space == Space::Argument && bound[buffer.index]);
  };
  for (size_t i = 0; i < skips.size(); ++i) {
    const std::vector<Operand> &operands = program.commands[i].operands;
    CommandKind kind = program.commands[i].kind;
    bool isComputed = kind == CommandKind::Kernel || kind == CommandKind::Copy;
    skips[i] = isComputed && std::none_of(operands.begin(), operands.end(), isNeeded);
  }
  return skips;
}

Error Executable::prepare() {
  for (const Program &program : manifest.programs) {
    Expected<std::unique_ptr<DeviceProgram>> prepared =
        machine->prepare({manifest, program, *image, places, workerMemory->address(),
                          skippedCommands(program), endpoint.get()});
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
    return fail("the runtime sets it");
  if (bytes != argument.bytes)
    return fail("the buffer has " + groupDigits(int64_t(bytes)) + " bytes, expected " +
                std::to_string(argument.bytes));
  auto *begin = static_cast<uint8_t *>(data);
  if (reinterpret_cast<uintptr_t>(begin) % bufferAlignment != 0)
    return fail("the buffer is not at a multiple of " + std::to_string(bufferAlignment));
  if (Error error = stream->synchronize())
    return fail(error.message());
  places.arguments[index] = begin;
  bound[index] = true;
  programs.clear();
  boundChanged = true;
  return Error::success();
}

Error Executable::checkBound(bool begins, bool ends) {
  BufferUse &use = uses[begins][ends];
  if (!boundChanged)
    return Error::success();
  if (use.writes.empty())
    use = findUse(manifest, begins, ends);
  boundChanged = !(begins && ends);
  return checkBuffers(manifest, places, bound, use);
}

Error Executable::readMemory(void *to, const void *from, uint64_t bytes) {
  if (Error error = stream->copyToHost(to, from, bytes))
    return error;
  return stream->synchronize();
}

Error Executable::writeMemory(void *to, const void *from, uint64_t bytes) {
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

Error Executable::runNamed(std::string_view name, Range range,
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
    if (isStep)
      error = checkBound(range.begin == 0, ends);
    if (!error)
      error = checkIndices ? runChecked(i, range, times) : runProgram(i, range, times, beside);
    if (isStep && !error && ends)
      error = compareReplays();
  }
  if (error)
    fail(error.message());
  return error;
}

Error Executable::runProgram(size_t index, Range range, Recorder *times,
                             const std::function<Error()> &beside) {
  if (Error error = stream->run(*programs[index], range.begin, range.end, times))
    return error;
  Error error = beside ? beside() : Error::success();
  Error finished = stream->synchronize();
  return finished ? finished : error;
}

Error Executable::runChecked(size_t index, Range range, Recorder *times) {
  const Program &program = manifest.programs[index];
  uint64_t begin = range.begin, at = 0;
  Error failure = Error::success();
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    const Command &command = program.commands[number];
    uint64_t now = at++;
    if (failure || command.indexChecks.empty() || now < range.begin || now >= range.end)
      return;
    failure = stream->run(*programs[index], begin, now, times);
    begin = now;
    if (failure)
      return;
    if (Error error = checkCommand(command, iterations))
      failure = Error::make("command " + std::to_string(now) +
                            (command.label.empty() ? "" : " (" + command.label + ")") + ": " +
                            error.message());
  });
  if (failure)
    return failure;
  if (Error error = stream->run(*programs[index], begin, range.end, times))
    return error;
  return stream->synchronize();
}

template <typename Index> static Error checkRange(const IndexCheck &check, const void *data) {
  const Index *indices = static_cast<const Index *>(data);
  uint64_t first = 0, wrong = 0;
  for (uint64_t i = 0; i < check.count; ++i)
    if ((indices[i] < 0 || int64_t(indices[i]) >= check.limit) && wrong++ == 0)
      first = i;
  if (wrong == 0)
    return Error::success();
  return Error::make("indices of " + check.name + " outside [0, " + std::to_string(check.limit) +
                     "): " + std::to_string(wrong) + " of " + std::to_string(check.count) +
                     ", the first is " + std::to_string(indices[first]) + " at position " +
                     std::to_string(first));
}

Error Executable::checkCommand(const Command &command, const std::vector<int64_t> &iterations) {
  for (const IndexCheck &check : command.indexChecks) {
    const void *data = places.of(command.operands[check.operand], iterations);
    std::vector<uint64_t> copy; // of words, so that its integers are aligned
    if (!machine->hasHostMemory()) {
      uint64_t bytes = check.count * elementBytes(check.dtype);
      copy.resize(bytes / 8 + 1);
      if (Error error = readMemory(copy.data(), data, bytes))
        return error;
      data = copy.data();
    }
    Error error = check.dtype == DType::I32 ? checkRange<int32_t>(check, data)
                                            : checkRange<int64_t>(check, data);
    if (error)
      return error;
  }
  return Error::success();
}

Error Executable::compareReplays() {
  for (const ReplayCheck &check : manifest.replayChecks)
    if (Error error = compareReplay(check))
      return error;
  return Error::success();
}

Error Executable::compareReplay(const ReplayCheck &check) {
  uint8_t *original = places.of(check.original), *replayed = places.of(check.replayed);
  uint64_t bytes = check.original.bytes, width = elementBytes(check.dtype);
  std::vector<uint8_t> copies;
  if (!machine->hasHostMemory()) {
    copies.resize(2 * bytes);
    if (Error error = readMemory(copies.data(), original, bytes))
      return error;
    if (Error error = readMemory(copies.data() + bytes, replayed, bytes))
      return error;
    original = copies.data();
    replayed = original + bytes;
  }
  if (std::memcmp(original, replayed, bytes) == 0)
    return Error::success();
  canonicalizeNaNs(check.dtype, original, bytes / width);
  canonicalizeNaNs(check.dtype, replayed, bytes / width);
  uint64_t at = std::mismatch(original, original + bytes, replayed).first - original;
  if (at == bytes)
    return Error::success();
  return Error::make(check.name + " differs from its original at element " +
                     std::to_string(at / width));
}
