// reprise: the driver API: memory, copies, fills
#include "Driver.h"
#include "Neighbour.h"
#include "Touch.h"

#include <cstring>

using namespace reprise::emulator;

FaultReport reprise::emulator::touchRange(const Memory &memory, const char *what, uint64_t address,
                                          uint64_t bytes, bool writes, const Accessor &me) {
  const Allocation *found = memory.find(address, bytes);
  Fault fault = !found   ? Fault::OutOfBounds
                : writes ? writeRange(found->shadow, address - found->begin, bytes, me)
                         : readRange(found->shadow, address - found->begin, bytes, me);
  if (fault == Fault::None)
    return {};
  return {fault, std::string(what) + " of " + std::to_string(bytes) +
                     " bytes: " + faultName(fault) + ": it " + (writes ? "writes " : "reads ") +
                     memory.describe(address)};
}

namespace {

/// A copy between places that have shadows; `from` may instead be bytes that were kept, and `to`
/// memory of the host that is not pinned.
struct Copy {
  uint64_t to = 0, from = 0, bytes = 0;
  bool pageableTo = false, keptFrom = false;
  std::vector<uint8_t> kept;
};

Work copyWork(Driver &driver, const Copy &copy) {
  const Memory *memory = &driver.memory;
  return [memory, copy](unsigned number, const uint8_t *ordered) {
    Accessor me{makeAgent(number, 0, 0, 0), ordered};
    FaultReport report;
    if (!copy.keptFrom)
      report = touchRange(*memory, "copy", copy.from, copy.bytes, false, me);
    if (report.fault == Fault::None && !copy.pageableTo)
      report = touchRange(*memory, "copy", copy.to, copy.bytes, true, me);
    if (report.fault == Fault::None)
      std::memmove(reinterpret_cast<void *>(copy.to),
                   copy.keptFrom ? copy.kept.data() : reinterpret_cast<const void *>(copy.from),
                   copy.bytes);
    return report;
  };
}

Work fillWork(Driver &driver, uint64_t to, uint32_t value, unsigned unit, uint64_t count) {
  const Memory *memory = &driver.memory;
  return [=](unsigned number, const uint8_t *ordered) {
    Accessor me{makeAgent(number, 0, 0, 0), ordered};
    FaultReport report = touchRange(*memory, "fill", to, count * unit, true, me);
    for (uint64_t i = 0; report.fault == Fault::None && i < count; ++i)
      std::memcpy(reinterpret_cast<uint8_t *>(to) + i * unit, &value, unit);
    return report;
  };
}

bool isDeviceMemory(const Locked &driver, uint64_t address, uint64_t bytes) {
  const Allocation *found = driver->memory.find(address, bytes);
  return found && found->device != hostDevice;
}
bool isPinned(const Locked &driver, uint64_t address, uint64_t bytes) {
  const Allocation *found = driver->memory.find(address, bytes);
  return found && found->device == hostDevice;
}

/// Adds the copy to the stream, and waits for it if the host may not access its memory before.
CUresult addCopy(Locked &driver, Copy copy, CUstream handle, bool waits) {
  Stream *stream = driver.stream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (waits && stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!copy.bytes)
    return CUDA_SUCCESS;
  driver->scheduler.enqueue(*stream, copyWork(*driver, std::move(copy)));
  if (!waits)
    return CUDA_SUCCESS;
  driver->scheduler.finishStream(*stream);
  return driver->finished();
}

CUresult fromHost(CUdeviceptr to, const void *from, size_t bytes, CUstream stream, bool waits) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  if (bytes && !isDeviceMemory(driver, to, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  Copy copy{to, reinterpret_cast<uint64_t>(from), bytes, false, false, {}};
  // The driver copies pageable memory before it returns.
  copy.keptFrom = !isPinned(driver, copy.from, bytes);
  const uint8_t *first = static_cast<const uint8_t *>(from);
  if (copy.keptFrom)
    copy.kept.assign(first, first + bytes);
  return addCopy(driver, std::move(copy), stream, waits);
}

CUresult toHost(void *to, CUdeviceptr from, size_t bytes, CUstream stream, bool waits) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  if (bytes && !isDeviceMemory(driver, from, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  Copy copy{reinterpret_cast<uint64_t>(to), from, bytes, false, false, {}};
  copy.pageableTo = !isPinned(driver, copy.to, bytes);
  return addCopy(driver, copy, stream, waits || copy.pageableTo);
}

CUresult between(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream, bool waits) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  if (bytes && (!isDeviceMemory(driver, from, bytes) || !isDeviceMemory(driver, to, bytes)))
    return CUDA_ERROR_INVALID_VALUE;
  return addCopy(driver, {to, from, bytes, false, false, {}}, stream, waits);
}

CUresult fill(CUdeviceptr to, uint32_t value, unsigned unit, size_t count, CUstream handle,
              bool waits) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  if (count && (to % unit || !isDeviceMemory(driver, to, count * unit)))
    return CUDA_ERROR_INVALID_VALUE;
  if (count)
    driver->scheduler.enqueue(*stream, fillWork(*driver, to, value, unit, count));
  if (waits && !stream->capture)
    driver->scheduler.finishStream(*stream);
  return driver->finished();
}

CUresult release(uint64_t address, bool pinned) {
  Locked driver;
  if (!address)
    return CUDA_SUCCESS;
  const Allocation *found = driver->memory.find(address);
  if (!found || found->begin != address || (found->device == hostDevice) != pinned)
    return CUDA_ERROR_INVALID_VALUE;
  driver->scheduler.finishAll();
  driver->memory.free(address);
  return driver->finished();
}

} // namespace

REPRISE_CUDA CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  bool fails = driver->failsNow("allocation");
  *address = fails ? 0 : driver->memory.allocate(driver.device().number, bytes);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

REPRISE_CUDA CUresult cuMemFree_v2(CUdeviceptr address) { return release(address, false); }

REPRISE_CUDA CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  *available = driver->memory.available(driver.device().number);
  *total = driver->memory.capacity(driver.device().number);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  *address = reinterpret_cast<void *>(driver->memory.allocate(hostDevice, bytes));
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

REPRISE_CUDA CUresult cuMemFreeHost(void *address) {
  return release(reinterpret_cast<uint64_t>(address), true);
}

REPRISE_CUDA CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned) {
  Locked driver;
  *address = reinterpret_cast<uint64_t>(host);
  return isPinned(driver, *address, 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

REPRISE_CUDA CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                           CUstream stream) {
  return fromHost(to, from, bytes, stream, false);
}
REPRISE_CUDA CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return fromHost(to, from, bytes, nullptr, true);
}
REPRISE_CUDA CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                                           CUstream stream) {
  return toHost(to, from, bytes, stream, false);
}
REPRISE_CUDA CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return toHost(to, from, bytes, nullptr, true);
}
REPRISE_CUDA CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                           CUstream stream) {
  return between(to, from, bytes, stream, false);
}
REPRISE_CUDA CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return between(to, from, bytes, nullptr, true);
}
REPRISE_CUDA CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                        size_t bytes, CUstream stream) {
  return between(to, from, bytes, stream, false);
}
REPRISE_CUDA CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                   size_t bytes) {
  return between(to, from, bytes, nullptr, true);
}

/// Work that a library gives to a stream; see Neighbour.h.
REPRISE_CUDA CUresult repriseEmulatorEnqueue(CUstream handle, const NeighbourWork *given) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  Stream *stream = driver.stream(handle);
  if (!stream || stream->capture || !isDeviceMemory(driver, given->address, given->bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (driver->memory.find(given->address)->device != stream->device)
    return CUDA_ERROR_INVALID_VALUE;
  NeighbourWork own = *given;
  const Memory *memory = &driver->memory;
  Work work = [own, memory](unsigned number, const uint8_t *ordered) {
    Accessor me{makeAgent(number, 0, 0, 0), ordered};
    FaultReport report = touchRange(*memory, own.what, own.address, own.bytes, own.writes != 0, me);
    const char *failure = own.finish(own.context, report.fault == Fault::None);
    if (report.fault == Fault::None && failure)
      report = {Fault::LaunchFailed, failure};
    return report;
  };
  driver->scheduler.enqueueGated(*stream, std::move(work),
                                 [own] { return own.poll(own.context) != 0; });
  return CUDA_SUCCESS;
}

/// Goes on with all that needs no other process.
REPRISE_CUDA void repriseEmulatorAdvance() {
  Locked driver;
  if (driver.ready(false) == CUDA_SUCCESS)
    driver->scheduler.advanceAll();
}

REPRISE_CUDA CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                      CUstream stream) {
  return fill(to, value, 1, count, stream, false);
}
REPRISE_CUDA CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                       CUstream stream) {
  return fill(to, value, 4, count, stream, false);
}
REPRISE_CUDA CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, value, 1, count, nullptr, true);
}
REPRISE_CUDA CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, value, 4, count, nullptr, true);
}
