// reprise: exchanges between lanes of a warp: shuffles, votes, matches, sums
#include "Decoder.h"
#include "Lanes.h"

using namespace reprise::emulator;

namespace {

enum Mode : uint16_t { Up, Down, Butterfly, Index };

/// Returns the lane that a lane reads, and whether it lies in the range of `c`.
unsigned sourceLane(uint16_t mode, unsigned lane, uint32_t b, uint32_t c, bool &inRange) {
  uint32_t clamp = c & 31, segment = c >> 8 & 31;
  uint32_t high = (lane & segment) | (clamp & ~segment), low = lane & segment;
  b &= 31;
  unsigned from = lane;
  switch (mode) {
  case Up:
    from = lane - b;
    inRange = int(from) >= int(high);
    break;
  case Down:
    from = lane + b;
    inRange = from <= high;
    break;
  case Butterfly:
    from = lane ^ b;
    inRange = from <= high;
    break;
  default:
    from = low | (b & ~segment);
    inRange = from <= high;
  }
  return inRange ? from : lane;
}

/// The list: the places of the range and of the member mask.
void shuffle(Warp &warp, const Inst &inst) {
  const uint32_t *list = &warp.program->lists[inst.list];
  const uint32_t *a = warp.at<uint32_t>(inst.a), *b = warp.at<uint32_t>(inst.b),
                 *c = warp.at<uint32_t>(list[0]), *members = warp.at<uint32_t>(list[1]);
  uint32_t result[lanes] = {}, inRange = 0, named = 0;
  forLanes(warp, [&](unsigned lane) { named |= members[lane]; });
  if (!warp.haveLanes(named & warp.live))
    return;
  forLanes(warp, [&](unsigned lane) {
    bool within = false;
    unsigned from = sourceLane(inst.flags, lane, b[lane], c[lane], within);
    if (!(warp.mask >> from & 1))
      warp.fail(Fault::Divergence, lane, "a shuffle reads a lane that is not here");
    result[lane] = a[from];
    inRange |= uint32_t(within) << lane;
  });
  warp.store<uint32_t>(inst.d, result);
  warp.setPredicate(inst.c, inRange);
}

bool decodeShuffle(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool sync = modifiers.take("sync");
  int mode = modifiers.takeOneOf({"up", "down", "bfly", "idx"});
  if (!sync || mode < 0 || !modifiers.take("b32") || source.operands.size() != 5)
    return false;
  inst.flags = mode;
  inst.run = shuffle;
  const Operand &result = source.operands[0];
  bool pair = result.kind == Operand::Kind::Pair;
  inst.d = decoder.target(pair ? result.elements[0] : result, Type::B32);
  inst.c = pair ? decoder.predicate(result.elements[1]) : decoder.newPlace(1);
  inst.a = decoder.source(source.operands[1], Type::B32);
  inst.b = decoder.source(source.operands[2], Type::B32);
  inst.list = decoder.addList({decoder.source(source.operands[3], Type::B32),
                               decoder.source(source.operands[4], Type::B32)});
  return true;
}

uint32_t memberMask(Warp &warp, uint32_t place) {
  return warp.at<uint32_t>(place)[__builtin_ctz(warp.mask)];
}

enum Vote : uint16_t { All, Any, Uniform, Ballot };

void vote(Warp &warp, const Inst &inst) {
  uint32_t members = memberMask(warp, inst.b) & warp.live;
  if (!warp.haveLanes(members))
    return;
  uint32_t bits = warp.predicate(inst.a);
  bits = (inst.imm ? ~bits : bits) & members;
  if (inst.flags == Ballot) {
    uint32_t result[lanes];
    std::fill_n(result, lanes, bits);
    return warp.store<uint32_t>(inst.d, result);
  }
  bool holds = inst.flags == All   ? bits == members
               : inst.flags == Any ? bits != 0
                                   : bits == members || bits == 0;
  warp.setPredicate(inst.d, holds ? allLanes : 0);
}

bool decodeVote(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool sync = modifiers.take("sync");
  int kind = modifiers.takeOneOf({"all", "any", "uni", "ballot"});
  bool ballot = kind == Ballot;
  if (!sync || kind < 0 || !modifiers.take(ballot ? "b32" : "pred"))
    return false;
  inst.run = vote;
  inst.flags = kind;
  Operand asked = source.operands[1];
  inst.imm = asked.negated;
  inst.d = ballot ? decoder.target(source.operands[0], Type::B32)
                  : decoder.predicate(source.operands[0]);
  inst.a = decoder.predicate(asked);
  inst.b = decoder.source(source.operands[2], Type::B32);
  return true;
}

void activeMask(Warp &warp, const Inst &inst) {
  uint32_t result[lanes];
  std::fill_n(result, lanes, warp.mask);
  warp.store<uint32_t>(inst.d, result);
}

bool decodeActiveMask(Decoder &decoder, const Instruction &source, Modifiers &modifiers,
                      Inst &inst) {
  inst.run = activeMask;
  inst.d = decoder.target(source.operands[0], Type::B32);
  return modifiers.take("b32");
}

/// Finds the lanes with the same value.
template <typename T> void match(Warp &warp, const Inst &inst) {
  uint32_t members = memberMask(warp, inst.b) & warp.live;
  if (!warp.haveLanes(members))
    return;
  const T *a = warp.at<T>(inst.a);
  uint32_t result[lanes] = {};
  forLanes(warp, [&](unsigned lane) {
    forLanes(warp, [&](unsigned other) {
      result[lane] |= uint32_t((members >> other & 1) && a[other] == a[lane]) << other;
    });
  });
  bool all = result[__builtin_ctz(warp.mask)] == members;
  if (inst.flags) {
    std::fill_n(result, lanes, all ? members : 0);
    warp.setPredicate(inst.c, all ? allLanes : 0);
  }
  warp.store<uint32_t>(inst.d, result);
}

bool decodeMatch(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  int all = modifiers.takeOneOf({"any", "all"});
  bool sync = modifiers.take("sync");
  Type type = modifiers.takeType();
  if (all < 0 || !sync || bitsOf(type) < 32)
    return false;
  inst.run = bitsOf(type) == 64 ? match<uint64_t> : match<uint32_t>;
  inst.flags = all;
  const Operand &result = source.operands[0];
  bool pair = result.kind == Operand::Kind::Pair;
  inst.d = decoder.target(pair ? result.elements[0] : result, Type::B32);
  inst.c = pair ? decoder.predicate(result.elements[1]) : decoder.newPlace(1);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], Type::B32);
  return true;
}

enum Sum : uint16_t { Add, Min, Max, And, Or, Xor };

/// Executes redux.sync: one value of all members.
template <typename T> void reduce(Warp &warp, const Inst &inst) {
  uint32_t members = memberMask(warp, inst.b) & warp.live;
  if (!warp.haveLanes(members))
    return;
  const T *a = warp.at<T>(inst.a);
  T sum = a[__builtin_ctz(members)];
  for (uint32_t left = members & (members - 1); left; left &= left - 1) {
    T value = a[__builtin_ctz(left)];
    sum = inst.flags == Add   ? T(uint32_t(sum) + uint32_t(value))
          : inst.flags == Min ? std::min(sum, value)
          : inst.flags == Max ? std::max(sum, value)
          : inst.flags == And ? sum & value
          : inst.flags == Or  ? sum | value
                              : sum ^ value;
  }
  T result[lanes];
  std::fill_n(result, lanes, sum);
  warp.store<T>(inst.d, result);
}

bool decodeReduce(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool sync = modifiers.take("sync");
  int op = modifiers.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = modifiers.takeType();
  if (!sync || op < 0 || bitsOf(type) != 32 || isFloat(type))
    return false;
  inst.flags = op;
  inst.run = isSigned(type) ? reduce<int32_t> : reduce<uint32_t>;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], Type::B32);
  return true;
}

void warpBarrier(Warp &warp, const Inst &inst) {
  warp.haveLanes(memberMask(warp, inst.b) & warp.live);
}

} // namespace

bool Decoder::decodeWarpBarrier(const Instruction &instruction, Inst &inst) {
  inst.run = warpBarrier;
  inst.b = source(instruction.operands[0], Type::B32);
  return true;
}

const Opcodes &reprise::emulator::warpOpcodes() {
  static const Opcodes opcodes = {{"shfl", decodeShuffle, 5},
                                  {"vote", decodeVote, 3},
                                  {"activemask", decodeActiveMask, 1},
                                  {"match", decodeMatch, 3},
                                  {"redux", decodeReduce, 3}};
  return opcodes;
}
