// reprise: cp.async: copied bytes arrive when they are waited for
#include "Access.h"
#include "Decoder.h"

using namespace reprise::emulator;

namespace {

/// Marks words of shared memory as in flight: no lane may read them, and a write races.
Fault markWords(Warp &warp, uint64_t offset, unsigned bytes) {
  Record *records = warp.block->sharedShadow.data();
  Fault fault = writeShadow(records, offset, bytes, warp.accessor);
  for (unsigned word = 0; fault == Fault::None && word < bytes / 4; ++word) {
    records[offset / 4 + word].write &= ~15ull;
    records[offset / 4 + word].read = notArrived;
  }
  return fault;
}

/// Begins the copy of one lane. It reads its source now; bytes beyond the source's are zero.
void beginCopy(Warp &warp, const Inst &inst, unsigned lane) {
  unsigned bytes = inst.count, given = bytes;
  if (inst.flags & 1)
    given = std::min(bytes, warp.at<uint32_t>(inst.c)[lane]);
  if ((inst.flags & 2) && warp.predicate(inst.c) >> lane & 1)
    given = 0;
  uint64_t to = inst.flags & narrowAddress ? warp.at<uint32_t>(inst.a)[lane] + inst.imm
                                           : warp.at<uint64_t>(inst.a)[lane] + inst.imm;
  uint64_t from = warp.at<uint64_t>(inst.b)[lane] + int32_t(inst.d);
  PendingCopy copy{lane, warp.copyGroup[lane], uint32_t(to), bytes, {}};
  Fault fault = to % bytes || from % bytes             ? Fault::Misaligned
                : to + bytes > warp.block->sharedBytes ? Fault::OutOfBounds
                                                       : markWords(warp, to, bytes);
  if (fault != Fault::None)
    return failAccess(warp, lane, fault, Space::Shared, to, bytes, Kind::Write);
  for (unsigned done = 0, step; done < given; done += step) {
    step = given - done >= 4 ? 4 : given % 2 ? 1 : 2;
    if (const uint8_t *data = reachGlobal(warp, lane, from + done, step, Kind::Read))
      std::memcpy(copy.data + done, data, step);
  }
  warp.copies.push_back(copy);
}

void beginCopies(Warp &warp, const Inst &inst) {
  forLanes(warp, [&](unsigned lane) { beginCopy(warp, inst, lane); });
}

void arrive(Warp &warp, const PendingCopy &copy) {
  Record *records = warp.block->sharedShadow.data();
  std::memcpy(warp.block->shared.data() + copy.offset, copy.data, copy.bytes);
  for (unsigned word = 0; word < copy.bytes / 4; ++word) {
    Record &record = records[copy.offset / 4 + word];
    record.write = warp.accessor.agent | 0xff;
    record.read = 0;
  }
}

/// Waits for all groups of the executing lanes except the last `inst.imm`.
void waitForGroups(Warp &warp, const Inst &inst) {
  auto isDone = [&](const PendingCopy &copy) {
    return (warp.mask >> copy.lane & 1) &&
           copy.group + inst.imm < warp.copyGroup[copy.lane] + (inst.flags & 1);
  };
  std::deque<PendingCopy> left;
  for (const PendingCopy &copy : warp.copies)
    if (isDone(copy))
      arrive(warp, copy);
    else
      left.push_back(copy);
  warp.copies.swap(left);
}

void commitGroup(Warp &warp, const Inst &) {
  forLanes(warp, [&](unsigned lane) { ++warp.copyGroup[lane]; });
}

bool decodeWait(const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (modifiers.take("commit_group")) {
    inst.run = commitGroup;
    return true;
  }
  bool all = modifiers.take("wait_all");
  if (!all && !modifiers.take("wait_group"))
    return false;
  inst.run = waitForGroups;
  inst.flags = all; // includes uncommitted groups
  if (all)
    return true;
  inst.imm = source.operands.empty() ? 0 : source.operands[0].value;
  return !source.operands.empty() && source.operands[0].kind == Operand::Kind::Immediate;
}

bool decodeCopy(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (!modifiers.take("async"))
    return false;
  int cache = modifiers.takeOneOf({"ca", "cg"});
  if (cache < 0)
    return decodeWait(source, modifiers, inst);
  bool spaces = modifiers.takeOneOf({"shared", "shared::cta"}) >= 0 && modifiers.take("global");
  modifiers.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  if (!spaces || source.operands.size() < 3 || source.operands[2].kind != Operand::Kind::Immediate)
    return false;
  Inst from;
  if (!decoder.address(source.operands[1], Space::Global, from) ||
      !decoder.address(source.operands[0], Space::Shared, inst))
    return false;
  inst.b = from.a;
  inst.d = from.imm;
  inst.count = source.operands[2].value;
  if (source.operands.size() > 3) {
    const Operand &fourth = source.operands[3];
    unsigned bits = 32;
    if (fourth.kind == Operand::Kind::Register)
      decoder.anyRegister(fourth, bits);
    inst.flags |= bits == 1 ? 2 : 1;
    inst.c = bits == 1 ? decoder.predicate(fourth) : decoder.source(fourth, Type::U32);
  }
  inst.run = beginCopies;
  bool size = inst.count == 16 || (cache == 0 && (inst.count == 4 || inst.count == 8));
  return size && from.imm == int32_t(from.imm);
}

} // namespace

const Opcodes &reprise::emulator::copyOpcodes() {
  static const Opcodes opcodes = {{"cp", decodeCopy, 0}};
  return opcodes;
}
