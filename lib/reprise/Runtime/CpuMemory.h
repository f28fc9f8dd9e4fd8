// reprise: memory of the CPU as memory of a device
#ifndef REPRISE_LIB_RUNTIME_CPUMEMORY_H
#define REPRISE_LIB_RUNTIME_CPUMEMORY_H

#include "reprise/Runtime/Device.h"
#include "reprise/Runtime/Memory.h"

namespace reprise::runtime {

/// Pages of the system, or a part of them.
class CpuMemory : public DeviceMemory {
public:
  explicit CpuMemory(Pages taken)
      : DeviceMemory(taken.data(), taken.size()), pages(std::move(taken)) {}
  CpuMemory(Pages taken, uint64_t begin, uint64_t bytes)
      : DeviceMemory(taken.data() + begin, bytes), pages(std::move(taken)) {}

  std::unique_ptr<DeviceMemory> take(uint64_t offset, uint64_t bytes) override {
    Expected<Pages> taken = pages.take(offset, bytes);
    if (!taken)
      return nullptr;
    return std::make_unique<CpuMemory>(std::move(*taken), Pages::placeInPage(offset), bytes);
  }

private:
  Pages pages;
};

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_CPUMEMORY_H
