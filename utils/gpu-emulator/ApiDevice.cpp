// reprise: the driver API: devices and contexts
#include "Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <regex>

using namespace reprise::emulator;

namespace {

/// Numbers and values of attributes of the emulated devices; other attributes are 0.
const std::pair<int, int> attributes[] = {
    {1, maxBlockThreads},       // threads per block
    {2, 1024},                  // block, x
    {3, 1024},                  // y
    {4, 64},                    // z
    {5, 0x7fffffff},            // grid, x
    {6, 65535},                 // y
    {7, 65535},                 // z
    {8, sharedBytesByDefault},  // shared memory per block
    {9, 65536},                 // constant memory
    {10, lanes},                // threads per warp
    {12, 65536},                // registers per block
    {13, 1000000},              // kilohertz
    {16, numMultiprocessors},   // multiprocessors
    {19, 1},                    // maps host memory
    {31, 1},                    // concurrent kernels
    {36, 1000000},              // kilohertz of memory
    {37, 1024},                 // bits of its bus
    {38, 4 << 20},              // second cache
    {39, 2048},                 // threads per multiprocessor
    {40, 2},                    // engines for copies
    {41, 1},                    // one address space
    {81, 228 << 10},            // shared memory per multiprocessor
    {82, 65536},                // registers per multiprocessor
    {97, sharedBytesOnRequest}, // shared memory per block on request
};

/// Allowed values of environment variables; other values would test a configuration that was not
/// intended.
const std::pair<const char *, const char *> environment[] = {
    {"REPRISE_EMULATED_ORDER", "forwards|backwards|shuffled"},
    {"REPRISE_EMULATED_CAPABILITY", "[89][0-9]|1[0-2][0-9]"},
    {"REPRISE_EMULATED_DEVICES", "[1-9]|[1-5][0-9]|6[0-4]"},
    {"REPRISE_EMULATED_MEMORY", "[1-9][0-9]{0,15}"},
    {"REPRISE_EMULATED_FAULT",
     "(allocation|launch|device|algorithm|convolution|wait):[1-9][0-9]{0,15}"}};

bool isDevice(const Locked &driver, CUdevice number) {
  return number >= 0 && size_t(number) < driver->devices.size();
}

Device *deviceOf(const Locked &driver, CUcontext context) {
  auto *device = reinterpret_cast<Device *>(context);
  for (Device &own : driver->devices)
    if (&own == device)
      return device;
  return nullptr;
}

} // namespace

REPRISE_CUDA CUresult cuInit(unsigned flags) {
  Locked driver;
  for (auto [name, pattern] : environment) {
    const char *value = std::getenv(name);
    if (value && !std::regex_match(value, std::regex(pattern)))
      return driver->fail(CUDA_ERROR_INVALID_VALUE,
                          std::string(name) + "=" + value + ", where " + pattern + " is expected");
  }
  driver->initialized = true;
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuDeviceGetCount(int *count) {
  Locked driver;
  *count = driver->devices.size();
  return driver.ready(false);
}

REPRISE_CUDA CUresult cuDeviceGet(CUdevice *device, int number) {
  Locked driver;
  *device = number;
  return isDevice(driver, number) ? driver.ready(false) : CUDA_ERROR_INVALID_DEVICE;
}

REPRISE_CUDA CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  Locked driver;
  std::snprintf(name, length, "Reprise emulated GPU %d", device);
  return isDevice(driver, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

REPRISE_CUDA CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  Locked driver;
  std::memset(uuid->bytes, 0, sizeof uuid->bytes);
  std::snprintf(uuid->bytes, sizeof uuid->bytes, "emulated %d", device);
  return isDevice(driver, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

REPRISE_CUDA CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  Locked driver;
  if (!isDevice(driver, device))
    return CUDA_ERROR_INVALID_DEVICE;
  const char *asked = std::getenv("REPRISE_EMULATED_CAPABILITY");
  int capability = asked ? std::atoi(asked) : 90;
  *value = attribute == 33   ? device // number on the bus
           : attribute == 75 ? capability / 10
           : attribute == 76 ? capability % 10
                             : 0;
  for (auto [number, answer] : attributes)
    if (number == attribute)
      *value = answer;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  Locked driver;
  if (!isDevice(driver, device))
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = driver->memory.capacity(device);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  Locked driver;
  if (!isDevice(driver, device))
    return CUDA_ERROR_INVALID_DEVICE;
  driver->devices[device].retained = true;
  *context = reinterpret_cast<CUcontext>(&driver->devices[device]);
  return driver.ready(false);
}

/// Releases nothing: a runtime frees its memory, and the process ends soon.
REPRISE_CUDA CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Locked driver;
  if (!isDevice(driver, device) || !driver->devices[device].retained)
    return CUDA_ERROR_INVALID_CONTEXT;
  driver->scheduler.finishDevice(device);
  return driver->finished();
}

REPRISE_CUDA CUresult cuCtxSetCurrent(CUcontext context) {
  Locked driver;
  Device *device = context ? deviceOf(driver, context) : nullptr;
  if (context && (!device || !device->retained))
    return CUDA_ERROR_INVALID_CONTEXT;
  currentDevice() = device;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = reinterpret_cast<CUcontext>(currentDevice());
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuCtxGetDevice(CUdevice *device) {
  Locked driver;
  if (!currentDevice())
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = currentDevice()->number;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuCtxSynchronize() {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  if (driver->scheduler.capturing(driver.device().number))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  driver->scheduler.finishDevice(driver.device().number);
  return driver->finished();
}

REPRISE_CUDA CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  Locked driver;
  if (!isDevice(driver, device) || !isDevice(driver, peer))
    return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned flags) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  Device *peer = deviceOf(driver, context);
  if (!peer || flags || peer == &driver.device())
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t bit = uint64_t(1) << peer->number;
  if (driver.device().reachable & bit)
    return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  driver.device().reachable |= bit;
  return CUDA_SUCCESS;
}

/// A name without its version stands for the newest one.
REPRISE_CUDA CUresult cuGetProcAddress_v2(const char *name, void **function, int, uint64_t,
                                          int *status) {
  Dl_info own;
  void *library = nullptr;
  if (dladdr(reinterpret_cast<void *>(&cuGetProcAddress_v2), &own))
    library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  std::string text(name);
  *function = nullptr;
  for (const char *version : {"_v2", ""})
    if (library && !*function)
      *function = dlsym(library, (text + version).c_str());
  if (library)
    dlclose(library);
  if (status)
    *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
