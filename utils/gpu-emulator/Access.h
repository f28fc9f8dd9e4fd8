// reprise: memory accesses by lanes: bounds, alignment, shadow
#ifndef REPRISE_GPU_EMULATOR_ACCESS_H
#define REPRISE_GPU_EMULATOR_ACCESS_H

#include "Lanes.h"

namespace reprise::emulator {

enum class Kind : uint8_t { Read, Write, Atomic };

/// Finds the allocation of an address and stores it in `recent`; fails if there is none, or none
/// that the device of the launch reaches.
bool findAllocation(Warp &warp, unsigned lane, uint64_t address, unsigned bytes, Kind kind,
                    Allocation &recent);
void failAccess(Warp &warp, unsigned lane, Fault fault, Space space, uint64_t address,
                unsigned bytes, Kind kind);
/// Records atomics in the shadow: they race with plain accesses, but not with each other.
Fault touchAtomically(Record *records, uint64_t offset, unsigned bytes, const Accessor &me);

inline Fault touch(Record *records, uint64_t offset, unsigned bytes, const Accessor &me,
                   Kind kind) {
  return kind == Kind::Read    ? readShadow(records, offset, bytes, me)
         : kind == Kind::Write ? writeShadow(records, offset, bytes, me)
                               : touchAtomically(records, offset, bytes, me);
}

/// Returns the host address; null after a fault. `bytes` is a power of two.
inline uint8_t *reachGlobal(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                            Kind kind) {
  Allocation &recent = warp.recent[warp.pc % 4];
  Fault fault = address % bytes ? Fault::Misaligned : Fault::None;
  if (fault == Fault::None) {
    if (!recent.contains(address, bytes) &&
        !findAllocation(warp, lane, address, bytes, kind, recent))
      return nullptr;
    fault = touch(recent.shadow, address - recent.begin, bytes, warp.accessor, kind);
    if (fault == Fault::None)
      return reinterpret_cast<uint8_t *>(address);
  }
  failAccess(warp, lane, fault, Space::Global, address, bytes, kind);
  return nullptr;
}

inline uint8_t *reachShared(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                            Kind kind) {
  Block &block = *warp.block;
  Fault fault = address % bytes ? Fault::Misaligned
                : address > block.sharedBytes || bytes > block.sharedBytes - address
                    ? Fault::OutOfBounds
                    : Fault::None;
  if (fault == Fault::None) {
    fault = touch(block.sharedShadow.data(), address, bytes, warp.accessor, kind);
    if (fault == Fault::None)
      return block.shared.data() + address;
  }
  failAccess(warp, lane, fault, Space::Shared, address, bytes, kind);
  return nullptr;
}

/// Returns the host address in any space; local memory and parameters have no shadow.
uint8_t *reachAny(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes,
                  Kind kind);

template <Space space>
inline uint8_t *reach(Warp &warp, unsigned lane, uint64_t address, unsigned bytes, Kind kind) {
  if constexpr (space == Space::Global)
    return reachGlobal(warp, lane, address, bytes, kind);
  else if constexpr (space == Space::Shared)
    return reachShared(warp, lane, address, bytes, kind);
  else
    return reachAny(warp, lane, space, address, bytes, kind);
}

inline uint64_t addressOf(Warp &warp, const Inst &inst, unsigned lane) {
  uint64_t base = inst.flags & narrowAddress ? warp.at<uint32_t>(inst.a)[lane]
                                             : warp.at<uint64_t>(inst.a)[lane];
  return base + inst.imm;
}

} // namespace reprise::emulator

#endif
