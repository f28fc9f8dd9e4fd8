// reprise: the CPU as a device: workers that take items from a counter and meet at a barrier
#include "CpuMemory.h"

#include "reprise/Runtime/HostCalls.h"
#include "reprise/Runtime/HostFeatures.h"
#include "reprise/Runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

using namespace reprise::runtime;

namespace {

struct CpuImage : DeviceImage {
  explicit CpuImage(Pages pages) : pages(std::move(pages)) {}
  Pages pages;
};

using KernelFunction = void (*)(void *const *buffers, int64_t begin, int64_t end, void *workspace);

/// Bytes per item of a copy, enough for a worker.
constexpr uint64_t copyBytes = 256 << 10;

/// Start of a transfer, or the wait for it. Commands with the same event share the transfer, since
/// a transfer is waited for before the next starts.
struct Exchange {
  Transfer *transfer;
  bool isStart, isSend;
  uint32_t peer, tag;
};

/// Kernel over its items. Without a kernel: an exchange, a call, or else a copy of `bytes`.
struct Launch {
  KernelFunction kernel;
  void *const *buffers;
  int64_t items, chunk;
  uint64_t bytes;
  const Exchange *exchange = nullptr;
  const PreparedCall *call = nullptr;
};

/// Single launch, or a run of adjacent launches of at most one item each, which one worker executes
/// without barriers between them.
struct Stage {
  uint32_t begin, end;
};

class CpuProgram : public DeviceProgram {
public:
  CpuProgram(const Device::ProgramPlaces &places, unsigned workers);
  /// Finds the peers of all transfers, before the program runs.
  Error makeExchanges(const Device::ProgramPlaces &places);
  bool mayFail() const { return !exchanges.empty() || !calls.empty(); }
  uint64_t executions() const override { return launches.size(); }
  /// Returns the stages of a run of launches, from the first to behind the last.
  std::pair<const Stage *, const Stage *> findStages(uint32_t begin, uint32_t end) const;

  std::vector<void *> buffers;
  std::vector<Launch> launches;
  std::vector<Stage> stages, single; ///< single: one stage per launch
  uint8_t *workspace;
  uint64_t workspaceStride;
  Endpoint *endpoint;

private:
  std::vector<Exchange> exchanges;        ///< launches point to them
  std::map<uint32_t, PreparedCall> calls; ///< calls by command; launches point to them
  std::map<uint32_t, Transfer> transfers; ///< transfers by event

  Launch makeLaunch(const Device::ProgramPlaces &places, uint32_t number);
};

uint64_t strideOf(uint64_t workerBytes) {
  // Workers' parts start on pages of their own.
  return (workerBytes + 4095) / 4096 * 4096;
}

CpuProgram::CpuProgram(const Device::ProgramPlaces &places, unsigned workers)
    : workspace(places.workspace), workspaceStride(strideOf(places.bundle.workerWorkspaceBytes)),
      endpoint(places.endpoint) {
  const Program &program = places.program;
  size_t total = 0;
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &) {
    total += program.commands[number].operands.size();
  });
  buffers.reserve(total); // launches point into it
  launches.reserve(program.executions());
  // First launch of a run that continues behind the pause.
  uint64_t first = program.executionsToPause();
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    const Command &command = program.commands[number];
    uint32_t i = uint32_t(launches.size());
    Launch launch = makeLaunch(places, number);
    if (!places.skips.empty() && places.skips[number])
      launch.items = 0;
    launch.buffers = buffers.data() + buffers.size();
    for (const Operand &operand : command.operands)
      buffers.push_back(places.addresses.of(operand, iterations));
    // A chunk is small enough that the workers end together, and large enough that the counter is
    // no bottleneck.
    unsigned parts = workers == 1 ? 1 : 8 * workers;
    launch.chunk = std::max<int64_t>(1, launch.items / parts);
    // A call is its own stage, since only the thread that runs the step makes it.
    bool joins = i != 0 && i != first && launch.items <= 1 && launches.back().items <= 1 &&
                 !launch.call && !launches.back().call;
    launches.push_back(launch);
    single.push_back({i, i + 1});
    if (joins)
      stages.back().end = i + 1;
    else
      stages.push_back({i, i + 1});
  });
}

/// Returns the stages. If the range cuts a stage, each launch is its own stage.
std::pair<const Stage *, const Stage *> CpuProgram::findStages(uint32_t begin, uint32_t end) const {
  auto find = [&](uint32_t place) {
    return std::partition_point(stages.begin(), stages.end(),
                                [&](const Stage &stage) { return stage.begin < place; });
  };
  auto isCut = [&](auto at, uint32_t place) {
    return place < launches.size() && (at == stages.end() || at->begin != place);
  };
  auto first = find(begin), last = find(end);
  if (isCut(first, begin) || isCut(last, end))
    return {single.data() + begin, single.data() + end};
  return {stages.data() + (first - stages.begin()), stages.data() + (last - stages.begin())};
}

Error CpuProgram::makeExchanges(const Device::ProgramPlaces &places) {
  const Program &program = places.program;
  if (!program.hasExplicit())
    return Error::success();
  exchanges.reserve(launches.size());
  Error failure = Error::success();
  size_t at = 0;
  std::map<uint32_t, bool> isOfTransfer;
  forEachExecution(program, [&](uint32_t number, const std::vector<int64_t> &) {
    const Command &command = program.commands[number];
    Launch &launch = launches[at++];
    bool isStart = isTransfer(command.kind);
    if (isStart || command.kind == CommandKind::Record)
      isOfTransfer[command.event] = isStart;
    // Events of a stream have always happened when they are waited for.
    if (failure || !(isStart || (command.kind == CommandKind::Wait && isOfTransfer[command.event])))
      return;
    Expected<uint32_t> peer =
        isStart ? places.endpoint->findPeer(command.peer) : Expected<uint32_t>(0);
    if (!peer) {
      failure = peer.error();
      return;
    }
    exchanges.push_back({&transfers[command.event], isStart, command.kind == CommandKind::Send,
                         *peer, command.tag});
    launch.exchange = &exchanges.back();
    launch.items = 1; // for one worker
    launch.bytes = isStart ? command.operands[0].buffer.bytes : 0;
  });
  return failure;
}

Launch CpuProgram::makeLaunch(const Device::ProgramPlaces &places, uint32_t number) {
  const Command &command = places.program.commands[number];
  // A fetch, like all work of this device, is done when it is waited for.
  if (command.kind == CommandKind::Copy || isHostMove(command.kind)) {
    uint64_t bytes = command.operands[0].buffer.bytes;
    return {nullptr, nullptr, int64_t((bytes + copyBytes - 1) / copyBytes), 1, bytes};
  }
  if (command.kind == CommandKind::Call)
    return {nullptr, nullptr, 1, 1, 0, nullptr, &calls.try_emplace(number, command).first->second};
  // makeExchanges adds the work of the remaining kinds, if any.
  if (command.kind != CommandKind::Kernel)
    return {nullptr, nullptr, 0, 1, 0};
  uint8_t *text = static_cast<const CpuImage &>(places.image).pages.data();
  uint64_t offset = places.bundle.kernels[command.kernel].imageOffset;
  return {reinterpret_cast<KernelFunction>(text + offset), nullptr, command.items, 1, 0};
}

struct CpuEvent : DeviceEvent {};

/// Stream that does its work at once: every event has then happened.
class CpuStream : public DeviceStream {
public:
  explicit CpuStream(ThreadPool &pool) : pool(pool) {}

  Error run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *recorder) override;
  Error copyToDevice(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  Error copyToHost(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  Error copyWithin(void *to, const void *from, uint64_t bytes) override {
    return copy(to, from, bytes);
  }
  Error record(DeviceEvent &) override { return Error::success(); }
  Error wait(DeviceEvent &) override { return Error::success(); }
  Error synchronize() override { return Error::success(); }

private:
  static Error copy(void *to, const void *from, uint64_t bytes) {
    if (bytes != 0)
      std::memcpy(to, from, bytes);
    return Error::success();
  }
  static void workerMain(void *self, unsigned worker);
  void work(unsigned worker);
  void runLaunch(uint32_t number, int64_t begin, int64_t end, unsigned worker);
  static void call(const Launch &launch, int64_t begin, int64_t end, void *workspace);
  // Apart, so that launches of kernels stay short.
  __attribute__((noinline, cold)) void exchange(const Launch &launch);
  void take(const Error &error) {
    hasFailed = bool(error);
    failure = error;
  }

  ThreadPool &pool;
  // Work of the workers, which the caller sets before they start.
  const CpuProgram *current = nullptr;
  const Stage *firstStage = nullptr, *lastStage = nullptr;
  Recorder *recorder = nullptr;
  // Set by the worker at a transfer or a call, one at a time; others read it at their barrier.
  Error failure = Error::success();
  bool hasFailed = false, isStopped = false; ///< stopped: all workers skip the remaining stages
  alignas(64) std::atomic<int64_t> nextItem{0};
};

Error CpuStream::run(DeviceProgram &program, uint64_t begin, uint64_t end, Recorder *times) {
  current = static_cast<const CpuProgram *>(&program);
  if (begin == end)
    return Error::success();
  std::tie(firstStage, lastStage) = current->findStages(uint32_t(begin), uint32_t(end));
  recorder = times;
  hasFailed = isStopped = false;
  nextItem.store(0, std::memory_order_relaxed);
  pool.run(workerMain, this);
  return hasFailed ? failure : Error::success();
}

void CpuStream::workerMain(void *self, unsigned worker) {
  static_cast<CpuStream *>(self)->work(worker);
}

void CpuStream::work(unsigned worker) {
  const bool mayFail = current->mayFail();
  for (const Stage *stage = firstStage; stage != lastStage; ++stage) {
    auto [first, last] = *stage;
    if (last - first > 1) {
      if (nextItem.fetch_add(1, std::memory_order_relaxed) == 0)
        for (uint32_t launch = first; launch < last && !(mayFail && hasFailed); ++launch)
          runLaunch(launch, 0, current->launches[launch].items, worker);
    } else if (const Launch &launch = current->launches[first]; launch.call) {
      if (worker == 0)
        runLaunch(first, 0, launch.items, worker);
    } else {
      int64_t items = launch.items, chunk = launch.chunk;
      for (;;) {
        int64_t begin = nextItem.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= items)
          break;
        runLaunch(first, begin, std::min(begin + chunk, items), worker);
      }
    }
    // The end of pool.run is the last stage's meeting.
    if (stage + 1 != lastStage)
      pool.barrier().wait([this] {
        nextItem.store(0, std::memory_order_relaxed);
        isStopped = hasFailed;
      });
    if (mayFail && isStopped)
      return;
  }
}

// The image carries no type signatures for clang's sanitizer of indirect calls to look at.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
void CpuStream::call(const Launch &launch, int64_t begin, int64_t end, void *workspace) {
  if (launch.kernel)
    return launch.kernel(launch.buffers, begin, end, workspace);
  uint64_t first = uint64_t(begin) * copyBytes;
  uint64_t last = std::min(uint64_t(end) * copyBytes, launch.bytes);
  std::memcpy(static_cast<uint8_t *>(launch.buffers[1]) + first,
              static_cast<uint8_t *>(launch.buffers[0]) + first, last - first);
}

void CpuStream::exchange(const Launch &launch) {
  const Exchange &exchange = *launch.exchange;
  Transfer &transfer = *exchange.transfer;
  if (exchange.isStart) {
    transfer.isSend = exchange.isSend;
    transfer.peer = exchange.peer;
    transfer.tag = exchange.tag;
    transfer.data = launch.buffers[0];
    transfer.bytes = launch.bytes;
  }
  take(exchange.isStart ? current->endpoint->start(transfer) : current->endpoint->wait(transfer));
}

void CpuStream::runLaunch(uint32_t number, int64_t begin, int64_t end, unsigned worker) {
  if (begin >= end)
    return;
  void *workspace = current->workspace + worker * current->workspaceStride;
  uint64_t start = recorder ? nanoseconds() : 0;
  const Launch &launch = current->launches[number];
  if (!launch.kernel && launch.exchange)
    exchange(launch);
  else if (launch.call)
    take(launch.call->run(launch.buffers));
  else
    call(launch, begin, end, workspace);
  if (!recorder)
    return;
  Span &span = recorder->at(number, worker);
  if (span.end == 0)
    span.begin = start;
  span.end = nanoseconds();
}

class CpuDevice : public Device {
public:
  explicit CpuDevice(std::unique_ptr<ThreadPool> pool) : pool(std::move(pool)) {}

  std::string name() const override { return "cpu"; }
  Error canRun(const Image &image) const override;
  Error canRun(const Command &command) const override {
    if (command.kind != CommandKind::Call)
      return Error::success();
    // A CPU has no library but those of the host; the error names the function.
    return isHostCall(command) ? checkHostCall(command) : Device::canRun(command);
  }
  bool hasHostMemory() const override { return true; }
  uint64_t availableMemory() const override { return reprise::runtime::availableMemory(); }
  unsigned workers() const override { return pool->size(); }
  Expected<MachineRates> measureRates() override { return measureMachineRates(workers()); }
  Expected<std::unique_ptr<DeviceMemory>> allocate(uint64_t bytes,
                                                   const std::string &what) override {
    Expected<Pages> pages = Pages::allocate(bytes, what);
    if (!pages)
      return pages.error();
    return std::unique_ptr<DeviceMemory>(new CpuMemory(std::move(*pages)));
  }
  Expected<std::unique_ptr<DeviceImage>> load(const Image &image) override {
    Expected<Pages> pages = Pages::executable(image.bytes.data(), image.bytes.size());
    if (!pages)
      return pages.error();
    return std::unique_ptr<DeviceImage>(new CpuImage(std::move(*pages)));
  }
  Expected<std::unique_ptr<DeviceProgram>> prepare(const ProgramPlaces &places) override {
    auto program = std::make_unique<CpuProgram>(places, pool->size());
    if (Error error = program->makeExchanges(places))
      return error;
    return std::unique_ptr<DeviceProgram>(std::move(program));
  }
  uint64_t workspaceStride(uint64_t workerBytes) const override { return strideOf(workerBytes); }
  Expected<std::unique_ptr<DeviceStream>> makeStream() override {
    return std::unique_ptr<DeviceStream>(new CpuStream(*pool));
  }
  Expected<std::unique_ptr<DeviceEvent>> makeEvent() override {
    return std::unique_ptr<DeviceEvent>(new CpuEvent());
  }

private:
  std::unique_ptr<ThreadPool> pool;
};

Error CpuDevice::canRun(const Image &image) const {
  if (image.target.compare(0, 3, "cpu") != 0)
    return Error::make("the bundle is for " + image.target +
                       ", not for the CPU: use --device=cuda");
  std::string missing;
  for (const std::string &feature : missingFeatures(image.features))
    missing += (missing.empty() ? "" : ", ") + feature;
  return missing.empty()
             ? Error::success()
             : Error::make("the bundle is for another machine, this one lacks " + missing +
                           ": compile it for this machine or for --target=cpu:x86-64-v3");
}

} // namespace

Expected<std::unique_ptr<Device>> reprise::runtime::makeCpuDevice(unsigned workers) {
  Expected<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(workers);
  if (!pool)
    return pool.error();
  return std::unique_ptr<Device>(new CpuDevice(std::move(*pool)));
}
