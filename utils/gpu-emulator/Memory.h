// reprise: memory of devices and pinned memory of the host, with their shadows
#ifndef REPRISE_GPU_EMULATOR_MEMORY_H
#define REPRISE_GPU_EMULATOR_MEMORY_H

#include "Shadow.h"

#include <map>
#include <string>
#include <vector>

namespace reprise::emulator {

/// Allocation at its host address, which is also the address on the device.
struct Allocation {
  uint64_t begin = 0, bytes = 0;
  Record *shadow = nullptr;
  int device = 0; ///< hostDevice for pinned memory

  uint64_t end() const { return begin + bytes; }
  bool contains(uint64_t address, uint64_t size) const {
    return address >= begin && size <= bytes && address - begin <= bytes - size;
  }
};
constexpr int hostDevice = -1;

class Memory {
public:
  explicit Memory(std::vector<uint64_t> capacities) : capacities(std::move(capacities)) {
    used.resize(this->capacities.size());
  }
  ~Memory();
  Memory(const Memory &) = delete;

  /// Allocates memory; returns 0 if the device or the system has no more. Pinned memory counts as
  /// written.
  uint64_t allocate(int device, uint64_t bytes);
  bool free(uint64_t begin);
  /// Returns null if no allocation holds `size` bytes from the address on.
  const Allocation *find(uint64_t address, uint64_t size = 1) const;
  /// Describes for a message the allocation around, before or behind the address.
  std::string describe(uint64_t address) const;
  uint64_t capacity(int device) const { return capacities[device]; }
  uint64_t available(int device) const { return capacities[device] - used[device]; }
  /// Orders all earlier work before all later work; numbers of launches start again.
  void forgetLaunches();

private:
  std::vector<uint64_t> capacities, used;
  std::map<uint64_t, Allocation> allocations; ///< by address
};

} // namespace reprise::emulator

#endif
