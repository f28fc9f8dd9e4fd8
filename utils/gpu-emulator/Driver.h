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
  uint64_t reachable = 0; ///< devices whose memory its kernels may access
  bool retained = false;
};

struct LoadedFunction {
  Program program;
  int device = 0;
  uint32_t dynamicShared = 0; ///< shared memory that the caller has requested
};

struct LoadedModule {
  int device = 0;
  std::map<std::string, std::unique_ptr<LoadedFunction>> functions;
  std::map<std::string, std::pair<uint64_t, uint64_t>> globals; ///< address and bytes
};

/// State of a process. Each call of the API holds its lock.
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

  /// Stores the text for repriseEmulatorLastError and prints it.
  CUresult fail(CUresult result, const std::string &text);
  /// Returns the result of a wait: from the first fault on, that fault.
  CUresult finished();
  std::string lastError;
  /// Counts work of that kind ("allocation", "launch", "device"), and tells whether this one is to
  /// fail, as REPRISE_EMULATED_FAULT=KIND:NUMBER asks. A device is lost at a launch.
  bool failsNow(const std::string &kind);

private:
  bool reported = false;
  std::string failingKind;
  uint64_t failingNumber = 0; ///< remaining work of that kind before the failure
};

/// Lock on the driver of the process.
class Locked {
public:
  Locked();
  Driver *operator->() const { return driver; }
  Driver &operator*() const { return *driver; }
  /// Returns an error if the driver cannot serve a call: not initialized, or lost. With
  /// `needsContext` also if the thread has no current context.
  CUresult ready(bool needsContext = true) const;
  Device &device() const;
  /// Returns the stream; null if the handle is none.
  Stream *stream(CUstream handle) const;
  /// Returns a stream that a call may use; null with the reason in `result`.
  Stream *usable(CUstream handle, CUresult &result) const;

private:
  std::unique_lock<std::mutex> lock;
  Driver *driver;
};

/// Returns the device of the calling thread; null if it has none.
Device *&currentDevice();
/// Restarts the driver for tests, with the current environment.
void resetDriver();

} // namespace reprise::emulator

#endif
