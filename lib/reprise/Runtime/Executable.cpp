// reprise: a bundle in memory, ready to run
#include "reprise/Runtime/Executable.h"
#include "reprise/Runtime/HostFeatures.h"
#include "reprise/Runtime/Npy.h"

#include <algorithm>
#include <cstring>

using namespace reprise::runtime;

static uint64_t aligned(uint64_t bytes) {
  return (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
}

static uint64_t largestArena(const Bundle &bundle) {
  uint64_t largest = 0;
  for (const Program &program : bundle.programs)
    largest = std::max(largest, program.arenaBytes);
  return largest;
}

Expected<std::unique_ptr<Executable>> Executable::load(const std::string &path, unsigned threads) {
  Expected<Bundle> bundle = readBundle(path);
  if (!bundle)
    return bundle.error();
  return create(std::move(*bundle), path, threads);
}

Expected<std::unique_ptr<Executable>> Executable::create(Bundle bundle, const std::string &name,
                                                         unsigned threads) {
  if (Error error = validateBundle(bundle))
    return Error::make(name + ": the bundle is malformed: " + error.message());
  std::unique_ptr<Executable> self(new Executable(std::move(bundle), name));
  if (threads == 0)
    threads = self->manifest.threads;
  if (Error error = self->checkMachine(threads))
    return Error::make(name + ": " + error.message());
  if (Error error = self->allocate(threads))
    return Error::make(name + ": " + error.message());
  self->programs.reserve(self->manifest.programs.size());
  for (const Program &program : self->manifest.programs)
    self->prepare(program);
  return self;
}

Error Executable::checkMachine(unsigned threads) const {
  if (manifest.target.compare(0, 3, "cpu") != 0)
    return Error::make("the bundle is for " + manifest.target + ", this runtime has the cpu only");
  std::string missing;
  for (const std::string &feature : missingFeatures(manifest.features))
    missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    return Error::make("the bundle is for another machine: this one lacks " + missing);
  if (threads > manifest.threads && manifest.hasBudget)
    return Error::make("the budget was met for " + std::to_string(manifest.threads) +
                       " threads, not for " + std::to_string(threads));
  uint64_t needed = manifest.persistentBytes() + largestArena(manifest) +
                    manifest.workspaceBytes(threads) + manifest.constants.size() +
                    manifest.image.size();
  uint64_t available = availableMemory();
  if (needed > available)
    return Error::make("a step needs " + std::to_string(needed) +
                       " bytes of memory, this machine has " + std::to_string(available) +
                       " available");
  return Error::success();
}

Error Executable::allocate(unsigned threads) {
  Error failure = Error::success();
  auto take = [&](Pages &into, uint64_t bytes, const char *what) {
    if (failure)
      return;
    Expected<Pages> pages = Pages::allocate(bytes, what);
    if (pages)
      into = std::move(*pages);
    else
      failure = pages.error();
  };
  uint64_t argumentBytes = 0;
  for (const Argument &argument : manifest.arguments)
    argumentBytes += aligned(argument.bytes);
  // Workers' parts start on pages of their own.
  workerStride = (manifest.workerWorkspaceBytes + 4095) / 4096 * 4096;
  take(argumentPages, argumentBytes, "the arguments");
  take(arenaPages, largestArena(manifest) + 4096, "the arena");
  take(sharedPages, manifest.sharedWorkspaceBytes, "the workspace");
  take(workerPages, workerStride * threads, "the workspace");
  take(constants, manifest.constants.size(), "the constants");
  if (failure)
    return failure;
  uint8_t *next = argumentPages.data();
  for (const Argument &argument : manifest.arguments) {
    argumentAddress.push_back(next);
    next += aligned(argument.bytes);
  }
  if (Error error = moveContents())
    return error;
  Expected<std::unique_ptr<ThreadPool>> threadPool = ThreadPool::create(threads);
  if (!threadPool)
    return threadPool.error();
  pool = std::move(*threadPool);
  return Error::success();
}

/// Constants and image go from the manifest to where kernels find them.
Error Executable::moveContents() {
  std::copy(manifest.constants.begin(), manifest.constants.end(), constants.data());
  Expected<Pages> kernels = Pages::executable(manifest.image.data(), manifest.image.size());
  if (!kernels)
    return kernels.error();
  image = std::move(*kernels);
  manifest.constants = {};
  manifest.image = {};
  return Error::success();
}

void *Executable::address(const BufferRef &buffer) const {
  switch (buffer.space) {
  case Space::Arena:
    return arenaPages.data() + buffer.offset;
  case Space::Argument:
    return static_cast<uint8_t *>(argumentAddress[buffer.index]) + buffer.offset;
  case Space::Constant:
    return constants.data() + buffer.offset;
  case Space::Shared:
    return sharedPages.data() + buffer.offset;
  }
  return nullptr;
}

void Executable::prepare(const Program &program) {
  Prepared &prepared = programs.emplace_back();
  prepared.program = &program;
  size_t total = 0;
  for (const Command &command : program.commands)
    total += command.operands.size();
  prepared.buffers.reserve(total); // launches point into it
  for (uint32_t i = 0; i < program.commands.size(); ++i) {
    const Command &command = program.commands[i];
    void *const *buffers = prepared.buffers.data() + prepared.buffers.size();
    for (const Operand &operand : command.operands)
      prepared.buffers.push_back(address(operand.buffer));
    auto kernel = reinterpret_cast<KernelFunction>(image.data() +
                                                   manifest.kernels[command.kernel].imageOffset);
    // Small enough that the workers end together, large enough that the counter is not in the way.
    unsigned parts = pool->size() == 1 ? 1 : 8 * pool->size();
    int64_t chunk = std::max<int64_t>(1, command.items / parts);
    prepared.launches.push_back({kernel, buffers, command.items, chunk});
    prepared.single.push_back({i, i + 1});
    bool joins = i != 0 && command.items <= 1 && program.commands[i - 1].items <= 1;
    if (joins)
      prepared.stages.back().end = i + 1;
    else
      prepared.stages.push_back({i, i + 1});
  }
}

const void *Executable::result(size_t index) const {
  const Result &result = manifest.results[index];
  return result.argument >= 0 ? argumentAddress[result.argument] : address(result.buffer);
}

Error Executable::run(std::string_view name) {
  for (const Prepared &prepared : programs) {
    if (prepared.program->name != name)
      continue;
    bool isStep = name == "step";
    recording = recorder && isStep;
    if (recording)
      recorder->clear();
    if (checkIndices) {
      if (Error error = runChecked(prepared))
        return error;
    } else {
      runStages(prepared, prepared.stages, 0, prepared.stages.size());
    }
    if (!isStep)
      continue;
    if (Error error = compareReplays())
      return error;
    replaceArguments();
  }
  return Error::success();
}

Error Executable::compareReplays() {
  for (const ReplayCheck &check : manifest.replayChecks) {
    auto *original = static_cast<uint8_t *>(address(check.original));
    auto *replayed = static_cast<uint8_t *>(address(check.replayed));
    uint64_t bytes = check.original.bytes, width = elementBytes(check.dtype);
    if (std::memcmp(original, replayed, bytes) == 0)
      continue;
    canonicalizeNaNs(check.dtype, original, bytes / width);
    canonicalizeNaNs(check.dtype, replayed, bytes / width);
    uint64_t at = std::mismatch(original, original + bytes, replayed).first - original;
    if (at != bytes)
      return Error::make(check.name + " differs from its original at element " +
                         std::to_string(at / width));
  }
  return Error::success();
}

void Executable::replaceArguments() {
  for (const Result &result : manifest.results)
    if (result.argument >= 0 && result.buffer.space != Space::Argument && result.buffer.bytes != 0)
      std::memcpy(argumentAddress[result.argument], address(result.buffer), result.buffer.bytes);
}

void Executable::runStages(const Prepared &prepared, const std::vector<Stage> &stages, size_t begin,
                           size_t end) {
  if (begin == end)
    return;
  current = &prepared;
  firstStage = stages.data() + begin;
  lastStage = stages.data() + end;
  nextItem.store(0, std::memory_order_relaxed);
  pool->run(workerMain, this);
}

void Executable::workerMain(void *self, unsigned worker) {
  static_cast<Executable *>(self)->work(worker);
}

void Executable::work(unsigned worker) {
  for (const Stage *stage = firstStage; stage != lastStage; ++stage) {
    auto [first, last] = *stage;
    if (last - first > 1) {
      if (nextItem.fetch_add(1, std::memory_order_relaxed) == 0)
        for (uint32_t command = first; command < last; ++command)
          runCommand(command, 0, current->launches[command].items, worker);
    } else {
      int64_t items = current->launches[first].items, chunk = current->launches[first].chunk;
      for (;;) {
        int64_t begin = nextItem.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= items)
          break;
        runCommand(first, begin, std::min(begin + chunk, items), worker);
      }
    }
    // The end of pool->run is the last stage's meeting.
    if (stage + 1 != lastStage)
      pool->barrier().wait([this] { nextItem.store(0, std::memory_order_relaxed); });
  }
}

// The image carries no type signatures for clang's sanitizer of indirect calls to look at.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
void Executable::runCommand(uint32_t command, int64_t begin, int64_t end, unsigned worker) {
  const Launch &launch = current->launches[command];
  if (begin >= end)
    return;
  void *workspace = workerPages.data() + worker * workerStride;
  uint64_t start = recording ? nanoseconds() : 0;
  launch.kernel(launch.buffers, begin, end, workspace);
  if (!recording)
    return;
  Span &span = recorder->at(command, worker);
  if (span.end == 0)
    span.begin = start;
  span.end = nanoseconds();
}

Error Executable::runChecked(const Prepared &prepared) {
  size_t begin = 0;
  for (size_t i = 0; i < prepared.single.size(); ++i) {
    const Command &command = prepared.program->commands[i];
    if (command.indexChecks.empty())
      continue;
    runStages(prepared, prepared.single, begin, i);
    begin = i;
    if (Error error = checkCommand(command))
      return Error::make("command " + std::to_string(i) +
                         (command.label.empty() ? "" : " (" + command.label + ")") + ": " +
                         error.message());
  }
  runStages(prepared, prepared.single, begin, prepared.single.size());
  return Error::success();
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

Error Executable::checkCommand(const Command &command) const {
  for (const IndexCheck &check : command.indexChecks) {
    const void *data = address(command.operands[check.operand].buffer);
    Error error = check.dtype == DType::I32 ? checkRange<int32_t>(check, data)
                                            : checkRange<int64_t>(check, data);
    if (error)
      return error;
  }
  return Error::success();
}
