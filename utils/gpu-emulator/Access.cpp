// reprise: rare paths of memory accesses by lanes
#include "Access.h"

using namespace reprise::emulator;

namespace {

const char *spaceName(Space space) {
  static const char *const names[] = {"generic", "global", "constant",
                                      "shared",  "local",  "parameter"};
  return names[static_cast<unsigned>(space)];
}

/// Records an access. The flag is stored before the agent, and read after it: a host thread that
/// finds the agent of another atomic operation knows that it is atomic.
Fault touchWord(Record &record, const Accessor &me, unsigned mask) {
  uint64_t write = __atomic_load_n(&record.write, __ATOMIC_ACQUIRE);
  uint64_t read = __atomic_load_n(&record.read, __ATOMIC_ACQUIRE);
  if (mask & ~write)
    return Fault::NeverWritten;
  bool others = (read & writtenAtomically) && launchOf(write) == launchOf(me.agent);
  if (!others && ((write ^ me.agent) & agentMask))
    if (Fault fault = meet(write, me); fault != Fault::None)
      return fault;
  if (!others && ((read ^ me.agent) & (agentMask | readerFlags)))
    if (Fault fault = meetReaders(read, me); fault != Fault::None)
      return fault;
  __atomic_store_n(&record.read, writtenAtomically, __ATOMIC_RELEASE);
  __atomic_store_n(&record.write, me.agent | uint64_t(mask) << 4 | 15, __ATOMIC_RELEASE);
  return Fault::None;
}

} // namespace

Fault reprise::emulator::touchAtomically(Record *records, uint64_t offset, unsigned bytes,
                                         const Accessor &me) {
  return forWords(records, offset, bytes,
                  [&](Record &record, unsigned mask) { return touchWord(record, me, mask); });
}

bool reprise::emulator::findAllocation(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                                       Kind kind, Allocation &recent) {
  const Launch &launch = *warp.block->launch;
  const Allocation *found = launch.memory->find(address, bytes);
  bool reachable = found && (found->device == hostDevice || launch.reachable >> found->device & 1);
  if (reachable) {
    recent = *found;
    return true;
  }
  failAccess(warp, lane, Fault::OutOfBounds, Space::Global, address, bytes, kind);
  return false;
}

void reprise::emulator::failAccess(Warp &warp, unsigned lane, Fault fault, Space space,
                                   uint64_t address, unsigned bytes, Kind kind) {
  std::string text = kind == Kind::Read    ? "a read of "
                     : kind == Kind::Write ? "a write of "
                                           : "an atomic operation on ";
  text += std::to_string(bytes) + " bytes of " + spaceName(space) + " memory, ";
  if (space == Space::Global)
    text += warp.block->launch->memory->describe(address);
  else
    text += "offset " + std::to_string(address);
  warp.fail(fault, lane, text);
}

uint8_t *reprise::emulator::reachAny(Warp &warp, unsigned lane, Space space, uint64_t address,
                                     unsigned bytes, Kind kind) {
  if (space == Space::Generic) {
    uint64_t window = address >> windowShift, inside = address & ((1ull << windowShift) - 1);
    space = window == 1   ? Space::Shared
            : window == 2 ? Space::Local
            : window == 3 ? Space::Param
                          : Space::Global;
    address = space == Space::Global ? address : inside;
  }
  if (space == Space::Shared)
    return reachShared(warp, lane, address, bytes, kind);
  if (space == Space::Global || space == Space::Const)
    return reachGlobal(warp, lane, address, bytes, kind);
  bool isParam = space == Space::Param;
  std::vector<uint8_t> &params = warp.block->launch->params;
  uint64_t size = isParam ? params.size() : warp.program->localBytes;
  if (address % bytes || address > size || bytes > size - address ||
      (isParam && kind != Kind::Read)) {
    Fault fault = address % bytes ? Fault::Misaligned : Fault::OutOfBounds;
    failAccess(warp, lane, fault, space, address, bytes, kind);
    return nullptr;
  }
  return (isParam ? params.data() : warp.local + uint64_t(lane) * size) + address;
}
