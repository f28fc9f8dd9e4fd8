// reprise: the state of the emulated driver
#ifndef REPRISE_GPU_EMULATOR_DRIVER_H
#define REPRISE_GPU_EMULATOR_DRIVER_H

#include "Cuda.h"
#include "Streams.h"

#include <map>
#include <unordered_map>

namespace reprise::emulator {

constexpr uint32_t maxBlockThreads = 1024, sharedBytesByDefault = 48 << 10,
                   sharedBytesOnRequest = 227 << 10, numMultiprocessors = 4;

struct Device {
  int number = 0;
  uint64_t reachable = 0; ///< devices whose memory its kernels may touch
  bool retained = false;
};

struct LoadedFunction {
  Program program;
  int device = 0;
  uint32_t dynamicShared = 0; ///< what the caller has asked to be allowed
};

struct LoadedModule {
  int device = 0;
  std::map<std::string, std::unique_ptr<LoadedFunction>> functions;
  std::map<std::string, std::pair<uint64_t, uint64_t>> globals; ///< address and bytes
};

/// All of a process. Each call of the API holds its lock.
class Driver {
public:
  Driver();
  ~Driver();

  Memory memory;
  Scheduler scheduler;
  Order order;
  std::vector<Device> devices;
  bool initialized = false;
  std::unordered_map<void *, std::unique_ptr<LoadedModule>> modules;
  std::unordered_map<void *, std::unique_ptr<Event>> events;
  std::unordered_map<void *, std::unique_ptr<Graph>> graphs;
  std::unordered_map<void *, std::unique_ptr<GraphExec>> execs;

  /// Keeps the text for repriseEmulatorLastError and prints it.
  CUresult fail(CUresult result, const std::string &text);
  /// The result of what was waited for: that of the first fault, from then on.
  CUresult finished();
  std::string lastError;
  /// Counts work of that kind ("allocation", "launch", "device"), and tells whether this one is to
  /// fail, as REPRISE_EMULATED_FAULT=KIND:NUMBER asks. A device is lost at a launch.
  bool failsNow(const std::string &kind);

private:
  bool reported = false;
  std::string failingKind;
  uint64_t failingNumber = 0; ///< how many of the kind are still to come
};

/// The driver of the process while it is locked.
class Locked {
public:
  Locked();
  Driver *operator->() const { return driver; }
  Driver &operator*() const { return *driver; }
  /// Not success if the driver cannot serve a call: not initialized, or lost. With `needsContext`
  /// also if the thread has no current context.
  CUresult ready(bool needsContext = true) const;
  Device &device() const;
  /// Null if it is no stream.
  Stream *stream(CUstream handle) const;
  /// A stream that a call may use; `result` tells why there is none.
  Stream *usable(CUstream handle, CUresult &result) const;

private:
  std::unique_lock<std::mutex> lock;
  Driver *driver;
};

/// Of the calling thread; null if it has none.
Device *&currentDevice();
/// For tests: as if the process began again, with the environment as it is now.
void resetDriver();

} // namespace reprise::emulator

#endif
