// reprise: the state of the emulated driver, and its errors
#include "Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace reprise::emulator;

namespace {

std::mutex processMutex;
std::unique_ptr<Driver> process;

uint64_t numberFrom(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  uint64_t value = text ? std::strtoull(text, nullptr, 10) : 0;
  return value ? value : otherwise;
}

std::vector<uint64_t> capacities() {
  uint64_t count = std::min<uint64_t>(numberFrom("REPRISE_EMULATED_DEVICES", 1), 64);
  return std::vector<uint64_t>(count, numberFrom("REPRISE_EMULATED_MEMORY", uint64_t(4) << 30));
}

struct ErrorName {
  CUresult result;
  const char *name, *text;
};
const ErrorName errorNames[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no PTX for the emulated device"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "PTX that the emulator does not know"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal memory access"},
    {CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "launch failure"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "not permitted while a stream is captured"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "the capture was not begun in this stream"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "a captured stream was not joined to the first one"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "a dependency crosses the capture's boundary"}};

const ErrorName *nameOf(CUresult result) {
  for (const ErrorName &entry : errorNames)
    if (entry.result == result)
      return &entry;
  return nullptr;
}

CUresult resultOf(Fault fault) {
  return fault == Fault::None          ? CUDA_SUCCESS
         : fault == Fault::OutOfBounds ? CUDA_ERROR_ILLEGAL_ADDRESS
         : fault == Fault::Misaligned  ? CUDA_ERROR_MISALIGNED_ADDRESS
         : fault == Fault::DeviceLost  ? CUDA_ERROR_ECC_UNCORRECTABLE
                                       : CUDA_ERROR_LAUNCH_FAILED;
}

} // namespace

Driver::Driver()
    : memory(capacities()), scheduler(memory, orderFromEnvironment()),
      order(orderFromEnvironment()) {
  // Other threads run meanwhile.
  scheduler.whenStuck = [] {
    processMutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    processMutex.lock();
  };
  devices.resize(capacities().size());
  for (size_t i = 0; i < devices.size(); ++i)
    devices[i] = {int(i), uint64_t(1) << i, false};
  const char *fault = std::getenv("REPRISE_EMULATED_FAULT");
  const char *colon = fault ? std::strchr(fault, ':') : nullptr;
  if (colon) {
    failingKind.assign(fault, colon);
    failingNumber = std::strtoull(colon + 1, nullptr, 10);
  }
}

Driver::~Driver() = default;

CUresult Driver::fail(CUresult result, const std::string &text) {
  lastError = text;
  std::fprintf(stderr, "gpu-emulator: error: %s\n", text.c_str());
  return result;
}

bool Driver::failsNow(const std::string &kind) {
  return kind == failingKind && failingNumber && --failingNumber == 0;
}

CUresult Driver::finished() {
  const FaultReport &fault = scheduler.fault();
  if (fault.fault != Fault::None && !reported) {
    reported = true;
    fail(CUDA_SUCCESS, fault.text);
  }
  return resultOf(fault.fault);
}

Locked::Locked() : lock(processMutex) {
  if (!process)
    process = std::make_unique<Driver>();
  driver = process.get();
}

CUresult Locked::ready(bool needsContext) const {
  if (!driver->initialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (driver->scheduler.fault().fault != Fault::None)
    return driver->finished();
  return needsContext && !currentDevice() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

Device &Locked::device() const { return *currentDevice(); }

Stream *Locked::stream(CUstream handle) const {
  // 1 and 2 are the two default streams by name.
  if (reinterpret_cast<uintptr_t>(handle) <= 2)
    return driver->scheduler.defaultStream(device().number);
  auto *stream = reinterpret_cast<Stream *>(handle);
  return driver->scheduler.owns(stream) ? stream : nullptr;
}

Stream *Locked::usable(CUstream handle, CUresult &result) const {
  result = ready();
  Stream *found = result == CUDA_SUCCESS ? stream(handle) : nullptr;
  if (result == CUDA_SUCCESS && !found)
    result = CUDA_ERROR_INVALID_HANDLE;
  return found;
}

Device *&reprise::emulator::currentDevice() {
  static thread_local Device *current = nullptr;
  return current;
}

void reprise::emulator::resetDriver() {
  std::lock_guard<std::mutex> lock(processMutex);
  process.reset();
  currentDevice() = nullptr;
}

/// The text of the last error of the emulator, or "".
REPRISE_CUDA const char *repriseEmulatorLastError() {
  static thread_local std::string text;
  Locked driver;
  text = driver->lastError;
  return text.c_str();
}

REPRISE_CUDA CUresult cuGetErrorName(CUresult error, const char **text) {
  const ErrorName *entry = nameOf(error);
  *text = entry ? entry->name : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

REPRISE_CUDA CUresult cuGetErrorString(CUresult error, const char **text) {
  const ErrorName *entry = nameOf(error);
  *text = entry ? entry->text : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
