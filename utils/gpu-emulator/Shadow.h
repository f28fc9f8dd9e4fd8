// reprise: the shadow of memory: last writer, readers since then, and written bytes
#ifndef REPRISE_GPU_EMULATOR_SHADOW_H
#define REPRISE_GPU_EMULATOR_SHADOW_H

#include <cstdint>
#include <cstring>

namespace reprise::emulator {

/// Agent is (launch, block, interval between barriers, warp). Its low byte is free for masks of
/// bytes:  launch:14 | block:22 | interval:15 | warp:5 | bytes:4 | flags:4.
using Agent = uint64_t;
constexpr unsigned launchShift = 50, blockShift = 28, intervalShift = 13, warpShift = 8;
constexpr uint64_t agentMask = ~uint64_t(0xff);
/// Limits of numbers. Launches have numbers below the first; 0 is work before all others.
constexpr unsigned numLaunches = 1u << 14;
constexpr unsigned intervalBits = 15, blockBits = 22;

inline Agent makeAgent(unsigned launch, unsigned block, unsigned interval, unsigned warp) {
  return Agent(launch) << launchShift | Agent(block & ((1u << blockBits) - 1)) << blockShift |
         Agent(interval & ((1u << intervalBits) - 1)) << intervalShift |
         Agent(warp & 31) << warpShift;
}
inline unsigned launchOf(Agent agent) { return agent >> launchShift; }

/// Record of four bytes of memory. In `write` the lowest four bits are the bytes that were ever
/// written; in `read` they are flags. Host threads change records without locks: a lost update may
/// hide a fault, but never reports a false one.
struct Record {
  uint64_t write, read;
};
constexpr uint64_t manyReaders = 1; ///< several warps of one block, in one interval
constexpr uint64_t manyBlocks = 2;
/// Flag: a launch that is not ordered before this launch has read the word as well.
constexpr uint64_t unorderedReaders = 4;
constexpr uint64_t readerFlags = manyReaders | manyBlocks | unorderedReaders;
/// The last write was atomic.
constexpr uint64_t writtenAtomically = 8;
/// Flag of bytes of shared memory that count as unwritten: a pending cp.async will fill them.
constexpr uint64_t notArrived = 8;

enum class Fault : uint8_t {
  None,
  OutOfBounds,
  Misaligned,
  NeverWritten,
  Race,
  NotArrived,
  MissingWait,
  ReadOnly,
  ConstantWritten,
  Divergence,
  Deadlock,
  Trap,
  Unsupported,
  LaunchFailed,
  DeviceLost
};
const char *faultName(Fault fault);

/// Launch with its known order: `ordered[l]` says that launch l is done before it.
struct Accessor {
  Agent agent;
  const uint8_t *ordered;
};

/// Returns the fault of an access of this agent after one of `other` to the same bytes.
inline Fault meet(uint64_t other, const Accessor &me) {
  unsigned launch = launchOf(other);
  if (launch != launchOf(me.agent))
    return me.ordered[launch] ? Fault::None : Fault::MissingWait;
  uint64_t difference = other ^ me.agent;
  if (difference >> blockShift)
    return Fault::Race;
  bool sameInterval = (difference >> intervalShift) == 0;
  return sameInterval && (difference >> warpShift) ? Fault::Race : Fault::None;
}

/// Records the first read of a word by an agent.
Fault readWordFirst(Record &record, const Accessor &me, unsigned mask);

/// Records a read of the bytes of `mask`. A read of bytes that others wrote unordered is a fault.
/// If the agent has read the bytes before, the writer need not be checked: a later write would have
/// checked that read.
inline Fault readWord(Record &record, const Accessor &me, unsigned mask) {
  uint64_t read = __atomic_load_n(&record.read, __ATOMIC_RELAXED), bytes = uint64_t(mask) << 4;
  if (((read ^ (me.agent | bytes)) & (agentMask | bytes)) == 0)
    return Fault::None;
  return readWordFirst(record, me, mask);
}

/// Returns the fault of a write after the reads of a word.
inline Fault meetReaders(uint64_t read, const Accessor &me) {
  if (launchOf(read) == launchOf(me.agent)) {
    if (read & unorderedReaders)
      return Fault::MissingWait;
    if (read & manyBlocks)
      return Fault::Race;
    if ((read & manyReaders) && ((read ^ me.agent) >> intervalShift) == 0)
      return Fault::Race;
  }
  return meet(read, me);
}

inline Fault writeWord(Record &record, const Accessor &me, unsigned mask) {
  uint64_t write = __atomic_load_n(&record.write, __ATOMIC_RELAXED);
  uint64_t read = __atomic_load_n(&record.read, __ATOMIC_RELAXED);
  uint64_t bytes = uint64_t(mask) << 4;
  bool mine = ((write ^ me.agent) & agentMask) == 0;
  if (!mine && (write & bytes))
    if (Fault fault = meet(write, me); fault != Fault::None)
      return fault;
  if ((read & bytes) && ((read ^ me.agent) & (agentMask | readerFlags)))
    if (Fault fault = meetReaders(read, me); fault != Fault::None)
      return fault;
  uint64_t next = me.agent | bytes | (write & 15) | mask | (mine ? write & 0xf0 : 0);
  // Two host threads may write the halves of a word; each must see the other's write.
  if (next != write && mask == 15)
    __atomic_store_n(&record.write, next, __ATOMIC_RELAXED);
  else if (next != write)
    while (!__atomic_compare_exchange_n(&record.write, &write, next | (write & 15), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  if (read & writtenAtomically)
    __atomic_store_n(&record.read, read & ~writtenAtomically, __ATOMIC_RELAXED);
  return Fault::None;
}

/// Visits the words of an access to [offset, offset + bytes), which lies within `records`. The size
/// is a power of two and divides the offset, or is a multiple of four.
template <typename Each>
__attribute__((always_inline)) inline Fault forWords(Record *records, uint64_t offset,
                                                     uint64_t bytes, const Each &each) {
  if (bytes < 4)
    return each(records[offset / 4], ((1u << bytes) - 1) << offset % 4);
  for (uint64_t word = offset / 4; word < (offset + bytes) / 4; ++word)
    if (Fault fault = each(records[word], 15u); fault != Fault::None)
      return fault;
  return Fault::None;
}
inline Fault readShadow(Record *records, uint64_t offset, uint64_t bytes, const Accessor &me) {
  return forWords(records, offset, bytes,
                  [&](Record &record, unsigned mask) { return readWord(record, me, mask); });
}
inline Fault writeShadow(Record *records, uint64_t offset, uint64_t bytes, const Accessor &me) {
  return forWords(records, offset, bytes,
                  [&](Record &record, unsigned mask) { return writeWord(record, me, mask); });
}

/// Record an access to any range, as in copies and fills.
Fault readRange(Record *records, uint64_t offset, uint64_t bytes, const Accessor &me);
Fault writeRange(Record *records, uint64_t offset, uint64_t bytes, const Accessor &me);

} // namespace reprise::emulator

#endif
