// reprise: a device program as launches of a GPU, and as captured graphs
#ifndef REPRISE_LIB_RUNTIME_CUDAPROGRAM_H
#define REPRISE_LIB_RUNTIME_CUDAPROGRAM_H

#include "CudaCalls.h"
#include "CudaCode.h"
#include "CudaHostMoves.h"
#include "reprise/Runtime/Device.h"
#include "reprise/Runtime/HostCalls.h"

#include <map>

namespace reprise::runtime::cuda {

/// Code of a bundle on the host. The driver compiles when it loads, so a kernel's module is loaded
/// when the first program needs it.
class CudaImage : public DeviceImage {
public:
  /// Makes the image; `code` selects among the machine code and the texts of a kernel.
  CudaImage(const Driver &driver, Context context, Image image, Code code)
      : driver(driver), context(context), bytes(std::move(image.bytes)),
        chips(std::move(image.features)), code(std::move(code)), takesCubins(this->code.hasCubins) {
  }
  ~CudaImage() override;

  /// Returns what the kernel is on this GPU.
  ChipKernel choose(const Kernel &kernel) const { return chooseKernel(kernel, code, chips); }
  Expected<Function> find(const Kernel &kernel) const;
  /// Returns once the reason why the driver compiles PTX although there is machine code; may be
  /// empty.
  std::string takeNote() const { return std::exchange(note, ""); }

private:
  Expected<Module> load(const Kernel &kernel) const;
  Expected<Module> loadText(const Kernel &kernel) const;
  Expected<Module> loadCubin(const Kernel &kernel) const;

  const Driver &driver;
  Context context;
  std::vector<uint8_t> bytes;
  std::vector<std::string> chips;
  Code code;
  mutable bool takesCubins; ///< whether there are cubins and the driver has refused none
  mutable std::string note;
  mutable std::map<uint64_t, Module> modules; ///< modules by the offset of their text
  /// Functions by their kernels in the manifest, because bound memory may move in every step.
  mutable std::map<const Kernel *, Function> functions;
};

/// Launches, copies and transfers with their addresses. In the first run each command is awaited,
/// so that an error names the failed command, because the driver does not name a command of a
/// graph. In later runs, commands between two transfers are one graph launch.
class CudaProgram : public DeviceProgram {
public:
  /// Makes the program; `calls` outlives it.
  CudaProgram(const Driver &driver, Number device, Context context, CudaCalls &calls)
      : driver(driver), device(device), context(context), calls(calls),
        copies(driver, device, context), hostMoves(driver, device, context) {}
  ~CudaProgram() override;

  Error fill(const Device::ProgramPlaces &places);
  uint64_t executions() const override { return items.size(); }
  /// Returns whether enqueueAll launches graphs, whose failures name no command.
  bool hasGraphs() const { return !segments.empty() && hasRun && !awaitsCommands(); }
  bool isWhole(uint64_t begin, uint64_t end) const { return begin == 0 && end == items.size(); }

  /// Returns whether its work may wait for another process, so that this process must handle
  /// messages.
  bool isWatched() const { return endpoint && endpoint->goesOnBehindWait(); }
  /// Waits for the stream, and listens. What the stream has done may be a fault.
  Error waitWatching(Stream stream);

  /// Enqueues the execution of that number. A transfer may wait for its peer's thread.
  Error enqueue(uint64_t number, Stream stream);
  /// Enqueues all; the commands are done when the first of these calls returns.
  Error enqueueAll(Stream stream);

private:
  /// Start of a transfer, or the wait for it.
  struct Exchange {
    CudaTransfer *transfer;
    bool isStart, isSend;
    uint32_t peer, tag;
    uint64_t bytes;
  };
  /// Launch of `blocks` blocks, a call of a library or of the host, a copy of `bytes`, a part of a
  /// transfer, an offload or a fetch, the wait for one of these, or a no-op.
  struct Item {
    Function function;
    unsigned blocks, threads;
    size_t first;   ///< index of its first address
    uint64_t bytes; ///< bytes of a copy
    const std::string *label;
    int exchange = -1;
    int hostMove = -1;      ///< move that starts here
    int64_t hostEvent = -1; ///< event of a move that is waited for
    const CudaCall *call = nullptr;
    const PreparedCall *hostCall = nullptr;
    size_t last = 0; ///< index behind its last address
    bool isOfHost() const { return hostMove >= 0 || hostEvent >= 0; }
  };
  /// Run of items without a transfer, or an item of a transfer.
  struct Segment {
    size_t begin, end;
    GraphExec graph = nullptr;
  };
  Error add(const Device::ProgramPlaces &places, uint32_t number,
            const std::vector<int64_t> &iterations);
  Error addLaunch(const Device::ProgramPlaces &places, const Command &command, Item &item) const;
  Error addCall(const Command &command, Item &item);
  Error addExchange(const Device::ProgramPlaces &places, const Command &command, Item &item);
  Error addHostMove(const Command &command, Item &item);
  Error openTransfers();
  void makeSegments();
  Error exchange(const Item &item, Stream stream);
  Error callHost(const Item &item) const;
  std::string describe(uint64_t number) const;
  bool awaitsCommands() const;
  Error enqueueAndAwait(Stream stream);
  Error captureAll(Stream stream);
  Error capture(Segment &segment, Stream stream);

  const Driver &driver;
  Number device;
  Context context;
  CudaCalls &calls;
  std::map<uint32_t, PreparedCall> hostCalls; ///< calls by command; items point to them
  std::vector<Address> addresses;
  std::vector<void *> parameters; ///< pointer to each address
  std::vector<Item> items;
  std::vector<Segment> segments;
  bool hasRun = false;
  Endpoint *endpoint = nullptr;
  TransferStream copies;
  /// Last transfer of each event, which is waited for before the next transfer of the event begins.
  std::map<uint32_t, CudaTransfer> transfers;
  std::map<uint32_t, uint64_t> mostBytes; ///< largest bytes of each
  std::vector<Exchange> exchanges;
  HostMoves hostMoves;
  std::vector<HostMove> moves;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDAPROGRAM_H
