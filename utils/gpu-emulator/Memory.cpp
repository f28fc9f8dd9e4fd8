// reprise: memory of devices and pinned memory of the host, with their shadows
#include "Memory.h"

#include <cstdio>
#include <sys/mman.h>

using namespace reprise::emulator;

namespace {

constexpr uint64_t granule = 512;

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void *mapPages(uint64_t bytes) {
  void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

uint64_t dataBytes(const Allocation &made) { return roundUp(made.bytes, granule); }
uint64_t shadowBytes(const Allocation &made) { return dataBytes(made) / 4 * sizeof(Record); }

void unmap(const Allocation &made) {
  munmap(reinterpret_cast<void *>(made.begin), dataBytes(made));
  munmap(made.shadow, shadowBytes(made));
}

template <typename Each>
Fault forRange(Record *records, uint64_t offset, uint64_t bytes, const Each &each) {
  while (bytes) {
    uint64_t step = offset % 4 == 0 && bytes >= 4 ? bytes / 4 * 4 : 1;
    if (Fault fault = forWords(records, offset, step, each); fault != Fault::None)
      return fault;
    offset += step;
    bytes -= step;
  }
  return Fault::None;
}

} // namespace

Fault reprise::emulator::readWordFirst(Record &record, const Accessor &me, unsigned mask) {
  uint64_t write = __atomic_load_n(&record.write, __ATOMIC_RELAXED);
  uint64_t read = __atomic_load_n(&record.read, __ATOMIC_RELAXED);
  if (mask & ~write)
    return read & notArrived ? Fault::NotArrived : Fault::NeverWritten;
  uint64_t bytes = uint64_t(mask) << 4;
  if (((write ^ me.agent) & agentMask) && (write & bytes))
    if (Fault fault = meet(write, me); fault != Fault::None)
      return fault;
  uint64_t next = me.agent | bytes;
  if (((read ^ me.agent) & agentMask) == 0) {
    next |= read;
  } else if (launchOf(read) != launchOf(me.agent)) {
    if ((read & bytes) && !me.ordered[launchOf(read)])
      next |= unorderedReaders;
  } else if (read & bytes) {
    next |= read & unorderedReaders;
    if ((read ^ me.agent) >> blockShift || (read & manyBlocks))
      next |= manyBlocks | (read & 0xf0);
    else if (((read ^ me.agent) >> intervalShift) == 0)
      next |= manyReaders | (read & 0xf0);
  }
  if (next != read)
    __atomic_store_n(&record.read, next, __ATOMIC_RELAXED);
  return Fault::None;
}

Fault reprise::emulator::readRange(Record *records, uint64_t offset, uint64_t bytes,
                                   const Accessor &me) {
  return forRange(records, offset, bytes,
                  [&](Record &record, unsigned mask) { return readWord(record, me, mask); });
}

Fault reprise::emulator::writeRange(Record *records, uint64_t offset, uint64_t bytes,
                                    const Accessor &me) {
  return forRange(records, offset, bytes,
                  [&](Record &record, unsigned mask) { return writeWord(record, me, mask); });
}

const char *reprise::emulator::faultName(Fault fault) {
  static const char *const names[] = {
      "no fault",
      "out-of-bounds access",
      "misaligned access",
      "read of bytes never written",
      "race",
      "read of bytes that cp.async has not filled yet",
      "missing wait: the access is not ordered behind another launch",
      "write to constant memory",
      "ld.global.nc of bytes that the same launch writes",
      "divergence",
      "deadlock",
      "trap",
      "unsupported access",
      "failure of the launch",
      "loss of the device"};
  return names[static_cast<unsigned>(fault)];
}

Memory::~Memory() {
  for (auto &entry : allocations)
    unmap(entry.second);
}

uint64_t Memory::allocate(int device, uint64_t bytes) {
  Allocation made;
  made.bytes = bytes;
  made.device = device;
  if (!bytes || (device != hostDevice && dataBytes(made) > available(device)))
    return 0;
  void *data = mapPages(dataBytes(made));
  made.shadow = static_cast<Record *>(mapPages(shadowBytes(made)));
  if (!data || !made.shadow)
    return 0;
  made.begin = reinterpret_cast<uint64_t>(data);
  if (device == hostDevice)
    for (uint64_t word = 0; word < roundUp(bytes, 4) / 4; ++word)
      made.shadow[word].write = 15;
  else
    used[device] += dataBytes(made);
  allocations[made.begin] = made;
  return made.begin;
}

bool Memory::free(uint64_t begin) {
  auto found = allocations.find(begin);
  if (found == allocations.end())
    return false;
  if (found->second.device != hostDevice)
    used[found->second.device] -= dataBytes(found->second);
  unmap(found->second);
  allocations.erase(found);
  return true;
}

const Allocation *Memory::find(uint64_t address, uint64_t size) const {
  auto above = allocations.upper_bound(address);
  if (above == allocations.begin())
    return nullptr;
  const Allocation &below = std::prev(above)->second;
  return below.contains(address, size) ? &below : nullptr;
}

std::string Memory::describe(uint64_t address) const {
  char text[160];
  auto above = allocations.upper_bound(address);
  if (above == allocations.begin()) {
    std::snprintf(text, sizeof text, "address 0x%llx below all memory", (long long)address);
    return text;
  }
  const Allocation &below = std::prev(above)->second;
  std::snprintf(text, sizeof text, "address 0x%llx, byte %llu of an allocation of %llu",
                (long long)address, (long long)(address - below.begin), (long long)below.bytes);
  return text;
}

void Memory::forgetLaunches() {
  for (auto &entry : allocations)
    for (uint64_t word = 0; word < roundUp(entry.second.bytes, 4) / 4; ++word) {
      entry.second.shadow[word].write &= 15;
      entry.second.shadow[word].read = 0;
    }
}
