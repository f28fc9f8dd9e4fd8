// reprise: the functions of the CUDA driver, opened when a CUDA device is first requested
//
// Names, types and numbers are those of the driver's binary interface (CUDA Driver API, version
// 12).
#ifndef REPRISE_LIB_RUNTIME_CUDADRIVER_H
#define REPRISE_LIB_RUNTIME_CUDADRIVER_H

#include "reprise/Runtime/Error.h"

#include <cstddef>
#include <cstdint>

namespace reprise::runtime::cuda {

using Status = int;
using Number = int; ///< number of a device
using Address = unsigned long long;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

constexpr unsigned streamNonBlocking = 1, eventDefault = 0, eventWithoutTime = 2,
                   captureThreadLocal = 1;
constexpr int attributeMajor = 75, attributeMinor = 76, attributeClock = 13,
              attributeProcessors = 16, attributeCache = 38;
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6;
constexpr int functionRegisters = 4;
constexpr Status outOfMemory = 2, invalidImage = 200, noBinaryForGpu = 209, notReady = 600,
                 reachedAlready = 704;

struct Uuid {
  char bytes[16];
};

/// X(member, name in the library, parameters)
#define REPRISE_CUDA_FUNCTIONS(X)                                                                  \
  X(init, cuInit, (unsigned))                                                                      \
  X(getErrorString, cuGetErrorString, (Status, const char **))                                     \
  X(getErrorName, cuGetErrorName, (Status, const char **))                                         \
  X(countDevices, cuDeviceGetCount, (int *))                                                       \
  X(getDevice, cuDeviceGet, (Number *, int))                                                       \
  X(getName, cuDeviceGetName, (char *, int, Number))                                               \
  X(getUuid, cuDeviceGetUuid_v2, (Uuid *, Number))                                                 \
  X(getAttribute, cuDeviceGetAttribute, (int *, int, Number))                                      \
  X(retainContext, cuDevicePrimaryCtxRetain, (Context *, Number))                                  \
  X(releaseContext, cuDevicePrimaryCtxRelease_v2, (Number))                                        \
  X(setContext, cuCtxSetCurrent, (Context))                                                        \
  X(getMemory, cuMemGetInfo_v2, (size_t *, size_t *))                                              \
  X(allocate, cuMemAlloc_v2, (Address *, size_t))                                                  \
  X(free, cuMemFree_v2, (Address))                                                                 \
  X(fill, cuMemsetD8Async, (Address, unsigned char, size_t, Stream))                               \
  X(fillWords, cuMemsetD32Async, (Address, unsigned, size_t, Stream))                              \
  X(copyToDevice, cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, Stream))                   \
  X(copyToHost, cuMemcpyDtoHAsync_v2, (void *, Address, size_t, Stream))                           \
  X(copy, cuMemcpyDtoDAsync_v2, (Address, Address, size_t, Stream))                                \
  X(copyBetween, cuMemcpyPeerAsync, (Address, Context, Address, Context, size_t, Stream))          \
  X(canReach, cuDeviceCanAccessPeer, (int *, Number, Number))                                      \
  X(reach, cuCtxEnablePeerAccess, (Context, unsigned))                                             \
  X(allocatePinned, cuMemHostAlloc, (void **, size_t, unsigned))                                   \
  X(freePinned, cuMemFreeHost, (void *))                                                           \
  X(loadModule, cuModuleLoadDataEx, (Module *, const void *, unsigned, int *, void **))            \
  X(unloadModule, cuModuleUnload, (Module))                                                        \
  X(getFunction, cuModuleGetFunction, (Function *, Module, const char *))                          \
  X(getFunctionAttribute, cuFuncGetAttribute, (int *, int, Function))                              \
  X(launch, cuLaunchKernel,                                                                        \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,       \
     void **, void **))                                                                            \
  X(makeStream, cuStreamCreate, (Stream *, unsigned))                                              \
  X(destroyStream, cuStreamDestroy_v2, (Stream))                                                   \
  X(synchronize, cuStreamSynchronize, (Stream))                                                    \
  X(query, cuStreamQuery, (Stream))                                                                \
  X(waitEvent, cuStreamWaitEvent, (Stream, Event, unsigned))                                       \
  X(makeEvent, cuEventCreate, (Event *, unsigned))                                                 \
  X(destroyEvent, cuEventDestroy_v2, (Event))                                                      \
  X(record, cuEventRecord, (Event, Stream))                                                        \
  X(synchronizeEvent, cuEventSynchronize, (Event))                                                 \
  X(getMilliseconds, cuEventElapsedTime, (float *, Event, Event))                                  \
  X(beginCapture, cuStreamBeginCapture_v2, (Stream, unsigned))                                     \
  X(endCapture, cuStreamEndCapture, (Stream, Graph *))                                             \
  X(makeGraphExec, cuGraphInstantiateWithFlags, (GraphExec *, Graph, unsigned long long))          \
  X(launchGraph, cuGraphLaunch, (GraphExec, Stream))                                               \
  X(destroyGraphExec, cuGraphExecDestroy, (GraphExec))                                             \
  X(destroyGraph, cuGraphDestroy, (Graph))

struct Driver {
#define REPRISE_DECLARE(member, name, parameters) Status(*member) parameters = nullptr;
  REPRISE_CUDA_FUNCTIONS(REPRISE_DECLARE)
#undef REPRISE_DECLARE

  /// Opens libcuda.so.1 and initializes it, once. Fails without a driver, or if the driver lacks a
  /// function.
  static Expected<const Driver *> get();
  /// "cannot WHAT: TEXT (NAME)", or success.
  Error check(Status status, const std::string &what) const;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDADRIVER_H
