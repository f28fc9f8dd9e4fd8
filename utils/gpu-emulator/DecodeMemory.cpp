// reprise: loads, stores, addresses
#include "Access.h"
#include "Decoder.h"

using namespace reprise::emulator;

namespace {

constexpr uint16_t flagSigned = 1, flagConstant = 2;

/// Gives lanes their elements, extended to the register: `inst.b` bytes of each lane.
template <typename T> void scatter(Warp &warp, const Inst &inst, const uint8_t *data) {
  const uint32_t *places = inst.count > 1 ? &warp.program->lists[inst.list] : &inst.d;
  using S = std::make_signed_t<T>;
  bool isSigned = inst.flags & flagSigned;
  for (unsigned k = 0; k < inst.count; ++k) {
    T values[lanes];
    for (unsigned lane = 0; lane < lanes; ++lane)
      std::memcpy(&values[lane], data + (lane * inst.count + k) * sizeof(T), sizeof(T));
    if (inst.b == sizeof(T)) {
      warp.store<T>(places[k], values);
      continue;
    }
    forLanes(warp, [&](unsigned lane) {
      int64_t wide = isSigned ? int64_t(S(values[lane])) : int64_t(values[lane]);
      std::memcpy(warp.at<uint8_t>(places[k]) + lane * inst.b, &wide, inst.b);
    });
  }
}

/// Loads values. After a fault the registers are undefined, since execution stops.
template <Space space, typename T, unsigned count> void load(Warp &warp, const Inst &inst) {
  constexpr unsigned bytes = sizeof(T) * count;
  uint8_t data[lanes * bytes];
  // Lanes often read the address of the lane before them. Local memory is private to each lane.
  constexpr bool common = space == Space::Global || space == Space::Shared;
  uint64_t last = 0;
  const uint8_t *from = nullptr;
  forLanes(warp, [&](unsigned lane) {
    uint64_t address = addressOf(warp, inst, lane);
    if (!common || !from || address != last)
      from = reach<space>(warp, lane, last = address, bytes, Kind::Read);
    if (space == Space::Global && inst.flags & flagConstant)
      warp.block->constantReads.add(address, bytes, inst.line);
    if (from)
      std::memcpy(data + lane * bytes, from, bytes);
  });
  scatter<T>(warp, inst, data);
}

template <Space space, typename T, unsigned count> void storeTo(Warp &warp, const Inst &inst) {
  constexpr unsigned bytes = sizeof(T) * count;
  const uint32_t *places = count > 1 ? &warp.program->lists[inst.list] : &inst.d;
  forLanes(warp, [&](unsigned lane) {
    uint8_t *to = reach<space>(warp, lane, addressOf(warp, inst, lane), bytes, Kind::Write);
    for (unsigned k = 0; to && k < count; ++k)
      std::memcpy(to + k * sizeof(T), warp.at<uint8_t>(places[k]) + lane * inst.b, sizeof(T));
  });
}

template <Space space, typename T> Handler handlerOf(unsigned count, bool store) {
  if (count == 1)
    return store ? storeTo<space, T, 1> : load<space, T, 1>;
  if (count == 2)
    return store ? storeTo<space, T, 2> : load<space, T, 2>;
  if (count == 4)
    return store ? storeTo<space, T, 4> : load<space, T, 4>;
  if constexpr (sizeof(T) < 8)
    if (count == 8)
      return store ? storeTo<space, T, 8> : load<space, T, 8>;
  return nullptr;
}

template <Space space> Handler handlerOf(unsigned bits, unsigned count, bool store) {
  return bits == 8    ? handlerOf<space, uint8_t>(count, store)
         : bits == 16 ? handlerOf<space, uint16_t>(count, store)
         : bits == 32 ? handlerOf<space, uint32_t>(count, store)
         : bits == 64 ? handlerOf<space, uint64_t>(count, store)
                      : nullptr;
}

Handler handlerOf(Space space, unsigned bits, unsigned count, bool store) {
  switch (space) {
  case Space::Global:
  case Space::Const:
    return handlerOf<Space::Global>(bits, count, store);
  case Space::Shared:
    return handlerOf<Space::Shared>(bits, count, store);
  case Space::Local:
    return handlerOf<Space::Local>(bits, count, store);
  case Space::Param:
    return handlerOf<Space::Param>(bits, count, store);
  case Space::Generic:
    return handlerOf<Space::Generic>(bits, count, store);
  }
  return nullptr;
}

Space takeSpace(Modifiers &modifiers) {
  static const Space spaces[] = {Space::Global, Space::Const,  Space::Shared,
                                 Space::Shared, Space::Shared, Space::Local,
                                 Space::Param,  Space::Param,  Space::Param};
  int number = modifiers.takeOneOf({"global", "const", "shared", "shared::cta", "shared::cluster",
                                    "local", "param", "param::entry", "param::func"});
  return number < 0 ? Space::Generic : spaces[number];
}

/// Skips hints to caches and other processors, which change no value here. Returns true for .nc:
/// the read memory is constant while the kernel runs.
bool takeHints(Modifiers &modifiers) {
  modifiers.takeOneOf({"weak", "relaxed", "acquire", "release", "volatile"});
  modifiers.takeOneOf({"cta", "cluster", "gpu", "sys"});
  modifiers.takeOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  bool isConstant = modifiers.take("nc");
  modifiers.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                       "L1::evict_last", "L1::no_allocate"});
  modifiers.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  return isConstant;
}

bool decodeAccess(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool store = source.opcode == "st";
  Space space = takeSpace(modifiers);
  bool isConstant = takeHints(modifiers);
  int vector = modifiers.takeOneOf({"v2", "v4", "v8"});
  Type type = modifiers.takeType();
  const Operand &where = source.operands[store ? 0 : 1], &value = source.operands[store ? 1 : 0];
  inst.count = 1u << (vector + 1);
  inst.flags = (isSigned(type) ? flagSigned : 0) | (isConstant ? flagConstant : 0);
  // Parameters of a function and of its callees lie in local memory.
  Space symbolSpace = space;
  uint64_t ignored;
  if (space == Space::Param && !where.symbol.empty() &&
      decoder.symbolValue(where.symbol, symbolSpace, ignored))
    space = symbolSpace;
  inst.run = handlerOf(space, bitsOf(type), inst.count, store);
  if (!inst.run || !decoder.address(where, space, inst))
    return false;
  std::vector<uint32_t> places;
  bool isVector = value.kind == Operand::Kind::Vector;
  if (isVector != (inst.count > 1) || (isVector && value.elements.size() != inst.count))
    return false;
  for (unsigned k = 0; k < inst.count; ++k) {
    const Operand &element = isVector ? value.elements[k] : value;
    if (!store && element.kind != Operand::Kind::Register && element.kind != Operand::Kind::Sink)
      return decoder.fail("a result that is no register");
    unsigned bytes = 0;
    places.push_back(decoder.looseOperand(element, type, bytes));
    if (element.kind != Operand::Kind::Sink)
      inst.b = bytes;
  }
  inst.d = places[0];
  inst.list = decoder.addList(places);
  return true;
}

/// Executes cvta: cvta.to.SPACE subtracts the window's begin; cvta.SPACE adds it.
template <typename T> void addOffset(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i)
    result[i] = a[i] + inst.imm;
  warp.store<T>(inst.d, result);
}

bool decodeConvertAddress(Decoder &decoder, const Instruction &source, Modifiers &modifiers,
                          Inst &inst) {
  bool to = modifiers.take("to");
  Space space = takeSpace(modifiers);
  if (space == Space::Generic || modifiers.takeType() != Type::U64)
    return false;
  uint64_t begin = space == Space::Shared  ? sharedWindow
                   : space == Space::Local ? localWindow
                   : space == Space::Param ? paramWindow
                                           : 0;
  inst.imm = to ? 0 - begin : begin;
  inst.run = addOffset<uint64_t>;
  inst.d = decoder.target(source.operands[0], Type::U64);
  inst.a = decoder.source(source.operands[1], Type::U64);
  return true;
}

void doNothing(Warp &, const Inst &) {}

bool decodePrefetch(Decoder &, const Instruction &, Modifiers &modifiers, Inst &inst) {
  takeSpace(modifiers);
  inst.run = doNothing;
  return modifiers.takeOneOf({"L1", "L2"}) >= 0;
}

/// Decodes a fence, which does nothing, since accesses take effect at once.
bool decodeFence(Decoder &, const Instruction &, Modifiers &modifiers, Inst &inst) {
  modifiers.takeOneOf({"sc", "acq_rel"});
  inst.run = doNothing;
  return modifiers.takeOneOf({"cta", "cluster", "gl", "gpu", "sys"}) >= 0;
}

} // namespace

const Opcodes &reprise::emulator::memoryOpcodes() {
  static const Opcodes opcodes = {
      {"ld", decodeAccess, 2},    {"st", decodeAccess, 2},   {"cvta", decodeConvertAddress, 2},
      {"membar", decodeFence, 0}, {"fence", decodeFence, 0}, {"prefetch", decodePrefetch, 1}};
  return opcodes;
}
