// reprise: a device program as launches of a GPU, and as the graph that is captured of them
#ifndef REPRISE_LIB_RUNTIME_CUDAPROGRAM_H
#define REPRISE_LIB_RUNTIME_CUDAPROGRAM_H

#include "CudaDriver.h"
#include "reprise/Runtime/Device.h"

#include <map>

namespace reprise::runtime::cuda {

/// The PTX of a bundle on the host. A driver compiles what it loads, so a kernel's module is loaded
/// when the first program needs it.
class CudaImage : public DeviceImage {
public:
  CudaImage(const Driver &driver, Context context, std::vector<uint8_t> text)
      : driver(driver), context(context), text(std::move(text)) {}
  ~CudaImage() override;

  Expected<Function> find(const Kernel &kernel) const;

private:
  Expected<Module> load(const Kernel &kernel) const;

  const Driver &driver;
  Context context;
  std::vector<uint8_t> text;
  mutable std::map<uint64_t, Module> modules; ///< by the offset of their text
};

/// Launches and copies with their addresses. A run of all of them is one launch of a graph, which
/// is captured the first time.
class CudaProgram : public DeviceProgram {
public:
  CudaProgram(const Driver &driver, Context context) : driver(driver), context(context) {}
  ~CudaProgram() override;

  Error fill(const Device::ProgramPlaces &places);
  uint64_t executions() const override { return items.size(); }
  bool isWhole(uint64_t begin, uint64_t end) const { return begin == 0 && end == items.size(); }

  /// Enqueues the execution of that number.
  Error enqueue(uint64_t number, Stream stream) const;
  /// Enqueues all.
  Error enqueueGraph(Stream stream);

private:
  /// A launch of `blocks` blocks, or without a function a copy; neither where `blocks` is 0.
  struct Item {
    Function function;
    unsigned blocks, threads;
    size_t first;   ///< of its addresses
    uint64_t bytes; ///< of a copy
    const std::string *label;
  };
  Error add(const Device::ProgramPlaces &places, uint32_t number,
            const std::vector<int64_t> &iterations);
  Error capture(Stream stream);

  const Driver &driver;
  Context context;
  std::vector<Address> addresses;
  std::vector<void *> parameters; ///< where each address stands
  std::vector<Item> items;
  GraphExec graph = nullptr;
};

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDAPROGRAM_H
