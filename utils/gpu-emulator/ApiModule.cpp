// reprise: the driver API: modules, functions, launches
#include "Driver.h"

#include <cstring>

using namespace reprise::emulator;

namespace {

constexpr int optionErrorLog = 5, optionErrorLogBytes = 6;

/// Device memory for the variables of a module, with their initial values.
bool placeGlobals(Driver &driver, const Module &source, LoadedModule &made) {
  for (const Variable &variable : source.variables) {
    if (variable.space == Space::Shared || variable.isExtern || !variable.bytes)
      continue;
    uint64_t address = driver.memory.allocate(made.device, variable.bytes);
    if (!address)
      return false;
    std::copy(variable.initial.begin(), variable.initial.end(),
              reinterpret_cast<uint8_t *>(address));
    const std::vector<uint8_t> ordered(numLaunches, 1);
    writeRange(driver.memory.find(address)->shadow, 0, variable.bytes, {0, ordered.data()});
    made.globals[variable.name] = {address, variable.bytes};
  }
  return true;
}

CUresult loadPtx(Driver &driver, const char *text, LoadedModule &made, std::string &error) {
  Module source;
  if (!parsePtx(text, source, error))
    return CUDA_ERROR_INVALID_PTX;
  if (!placeGlobals(driver, source, made))
    return CUDA_ERROR_OUT_OF_MEMORY;
  auto find = [&](const std::string &name) {
    auto found = made.globals.find(name);
    return found == made.globals.end() ? 0 : found->second.first;
  };
  for (const auto &function : source.functions) {
    if (!function->isEntry)
      continue;
    auto loaded = std::make_unique<LoadedFunction>();
    loaded->device = made.device;
    if (!decodeKernel(source, *function, find, loaded->program, error))
      return CUDA_ERROR_INVALID_PTX;
    made.functions[function->name] = std::move(loaded);
  }
  return CUDA_SUCCESS;
}

void writeLog(const std::string &text, unsigned count, const int *options, void **values) {
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    log = options[i] == optionErrorLog ? static_cast<char *>(values[i]) : log;
    bytes = options[i] == optionErrorLogBytes ? reinterpret_cast<size_t>(values[i]) : bytes;
  }
  if (log && bytes) {
    std::strncpy(log, text.c_str(), bytes - 1);
    log[bytes - 1] = 0;
  }
}

LoadedFunction *functionOf(const Locked &driver, CUfunction handle) {
  for (auto &module : driver->modules)
    for (auto &function : module.second->functions)
      if (function.second.get() == reinterpret_cast<LoadedFunction *>(handle))
        return function.second.get();
  return nullptr;
}

/// Parameters come as a pointer each, or packed in one buffer.
std::vector<uint8_t> packParameters(const Program &program, void **params, void **extra) {
  std::vector<uint8_t> bytes(program.paramBytes);
  for (size_t i = 0; params && i < program.params.size(); ++i)
    std::memcpy(bytes.data() + program.params[i].offset, params[i], program.params[i].bytes);
  for (; extra && *extra; extra += 2)
    if (reinterpret_cast<uintptr_t>(*extra) == 1) // the buffer; 2 is its size
      std::memcpy(bytes.data(), extra[1], bytes.size());
  return bytes;
}

struct LaunchShape {
  Dim grid, block;
  uint32_t dynamicShared;
};

std::string problemOf(const LoadedFunction &function, const LaunchShape &shape) {
  const Program &program = function.program;
  auto tooWide = [](Dim dim, uint64_t x, uint64_t y, uint64_t z) {
    return !dim.count() || dim.x > x || dim.y > y || dim.z > z;
  };
  if (tooWide(shape.grid, 0x7fffffff, 65535, 65535))
    return "a grid of " + std::to_string(shape.grid.count()) + " blocks";
  uint64_t threads = shape.block.count();
  if (tooWide(shape.block, 1024, 1024, 64) ||
      threads > std::min(maxBlockThreads, program.maxThreads))
    return "blocks of " + std::to_string(threads) + " threads";
  uint64_t shared = uint64_t(program.sharedBytes) + shape.dynamicShared;
  if (shared > sharedBytesByDefault && shape.dynamicShared > function.dynamicShared)
    return std::to_string(shared) + " bytes of shared memory, which nobody asked for";
  return shared > sharedBytesOnRequest ? std::to_string(shared) + " bytes of shared memory" : "";
}

/// Returns the work of a launch. Only a caller that has waited for the work may unload the module.
Work launchWork(Driver &driver, const LoadedFunction &function, const LaunchShape &shape,
                const std::vector<uint8_t> &params) {
  Driver *owner = &driver;
  const Program *program = &function.program;
  int device = function.device;
  return [=](unsigned number, const uint8_t *ordered) {
    Launch launch;
    launch.program = program;
    launch.memory = &owner->memory;
    launch.grid = shape.grid;
    launch.block = shape.block;
    launch.dynamicShared = shape.dynamicShared;
    launch.params = params;
    launch.number = number;
    launch.ordered = ordered;
    launch.order = owner->order;
    launch.multiprocessors = numMultiprocessors;
    launch.reachable = owner->devices[device].reachable;
    for (auto [kind, fault] :
         {std::pair("launch", Fault::LaunchFailed), {"device", Fault::DeviceLost}})
      if (owner->failsNow(kind))
        launch.fail(fault, "kernel " + program->name + ": " + faultName(fault));
    if (!launch.failed)
      runLaunch(launch);
    return launch.report;
  };
}

} // namespace

REPRISE_CUDA CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                         const int *options, void **values) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  const char *text = static_cast<const char *>(image);
  auto made = std::make_unique<LoadedModule>();
  made->device = driver.device().number;
  std::string error;
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (!std::memcmp(text,
                   "\x7f"
                   "ELF",
                   4) ||
      !std::memcmp(text, "\x50\xed\x55\xba", 4))
    error = "machine code, where the emulator runs PTX alone";
  else
    result = loadPtx(*driver, text, *made, error);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) { // a caller may have PTX beside it
    writeLog(error, count, options, values);
    return result;
  }
  if (result != CUDA_SUCCESS) {
    for (auto &global : made->globals)
      driver->memory.free(global.second.first);
    writeLog(error, count, options, values);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? result : driver->fail(result, error);
  }
  *module = reinterpret_cast<CUmodule>(made.get());
  void *handle = made.get();
  driver->modules[handle] = std::move(made);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

REPRISE_CUDA CUresult cuModuleUnload(CUmodule module) {
  Locked driver;
  auto found = driver->modules.find(module);
  if (found == driver->modules.end())
    return CUDA_ERROR_INVALID_HANDLE;
  driver->scheduler.finishDevice(found->second->device);
  for (auto &global : found->second->globals)
    driver->memory.free(global.second.first);
  driver->modules.erase(found);
  return driver->finished();
}

REPRISE_CUDA CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  Locked driver;
  auto found = driver->modules.find(module);
  if (found == driver->modules.end())
    return CUDA_ERROR_INVALID_HANDLE;
  auto named = found->second->functions.find(name);
  if (named == found->second->functions.end())
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(named->second.get());
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                           const char *name) {
  Locked driver;
  auto found = driver->modules.find(module);
  if (found == driver->modules.end())
    return CUDA_ERROR_INVALID_HANDLE;
  auto named = found->second->globals.find(name);
  if (named == found->second->globals.end())
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = named->second.first;
  if (bytes)
    *bytes = named->second.second;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction handle) {
  Locked driver;
  LoadedFunction *function = functionOf(driver, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  const Program &program = function->program;
  const int values[] = {int(program.maxThreads),
                        int(program.sharedBytes),
                        0,
                        int(program.localBytes),
                        32,
                        78,
                        90,
                        0,
                        int(function->dynamicShared)};
  if (attribute < 0 || attribute > functionMaxDynamicShared)
    return CUDA_ERROR_INVALID_VALUE;
  *value = values[attribute];
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
  Locked driver;
  LoadedFunction *function = functionOf(driver, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != functionMaxDynamicShared)
    return CUDA_SUCCESS; // partition of caches
  if (value < 0 || value + function->program.sharedBytes > sharedBytesOnRequest)
    return CUDA_ERROR_INVALID_VALUE;
  function->dynamicShared = value;
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle,
                                                                  int threads, size_t) {
  Locked driver;
  if (!functionOf(driver, handle) || threads <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  *blocks = 2048 / ((threads + lanes - 1) / lanes * lanes);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY,
                                     unsigned gridZ, unsigned blockX, unsigned blockY,
                                     unsigned blockZ, unsigned sharedBytes, CUstream streamHandle,
                                     void **params, void **extra) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  LoadedFunction *function = functionOf(driver, handle);
  Stream *stream = driver.stream(streamHandle);
  if (!function || !stream || stream->device != function->device)
    return CUDA_ERROR_INVALID_HANDLE;
  LaunchShape shape{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  std::string problem = problemOf(*function, shape);
  if (!problem.empty())
    return driver->fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel " + function->program.name + ": " + problem);
  driver->scheduler.enqueue(*stream, launchWork(*driver, *function, shape,
                                                packParameters(function->program, params, extra)));
  return CUDA_SUCCESS;
}
