// reprise: atomic operations
#include "Access.h"
#include "Decoder.h"
#include "FloatBits.h"

using namespace reprise::emulator;

namespace {

enum Op : uint16_t { Add, Min, Max, And, Or, Xor, Exchange, Inc, Dec, Swap };

template <typename T> T apply(uint16_t op, T old, T value, T other) {
  if constexpr (std::is_floating_point_v<T>) {
    return op == Add ? T(old + value) : value;
  } else {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case Add:
      return T(U(old) + U(value));
    case Min:
      return std::min(old, value);
    case Max:
      return std::max(old, value);
    case And:
      return old & value;
    case Or:
      return old | value;
    case Xor:
      return old ^ value;
    case Inc:
      return old >= value ? 0 : old + 1;
    case Dec:
      return old == 0 || old > value ? value : old - 1;
    case Swap:
      return old == value ? other : old;
    default:
      return value;
    }
  }
}

/// Lanes come one after the other; threads of the host meet in the compare and exchange.
template <typename T> void atomic(Warp &warp, const Inst &inst) {
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const uint32_t *list = &warp.program->lists[inst.list];
  Space space = Space(list[0]);
  T result[lanes] = {};
  forLanes(warp, [&](unsigned lane) {
    uint8_t *at = reachAny(warp, lane, space, addressOf(warp, inst, lane), sizeof(T), Kind::Atomic);
    if (!at)
      return;
    auto *word = reinterpret_cast<Word *>(at);
    T value = warp.at<T>(inst.b)[lane], other = warp.at<T>(inst.c)[lane];
    Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST), made;
    do
      made = bitCast<Word>(apply<T>(inst.flags & 15, bitCast<T>(old), value, other));
    while (
        !__atomic_compare_exchange_n(word, &old, made, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    result[lane] = bitCast<T>(old);
  });
  if (list[1])
    warp.store<T>(inst.d, result);
}

Handler handlerOf(Type type) {
  switch (type) {
  case Type::B32:
  case Type::U32:
    return atomic<uint32_t>;
  case Type::S32:
    return atomic<int32_t>;
  case Type::B64:
  case Type::U64:
    return atomic<uint64_t>;
  case Type::S64:
    return atomic<int64_t>;
  case Type::F32:
    return atomic<float>;
  case Type::F64:
    return atomic<double>;
  default:
    return nullptr;
  }
}

bool decodeAtomic(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool gives = source.opcode == "atom";
  modifiers.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  modifiers.takeOneOf({"cta", "gpu", "sys"});
  Space space = modifiers.take("global")   ? Space::Global
                : modifiers.take("shared") ? Space::Shared
                                           : Space::Generic;
  int op =
      modifiers.takeOneOf({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"});
  Type type = modifiers.takeType();
  size_t first = gives ? 1 : 0;
  inst.run = handlerOf(type);
  if (op < 0 || !inst.run || (isFloat(type) && op != Add) ||
      source.operands.size() != first + (op == Swap ? 3 : 2) ||
      !decoder.address(source.operands[first], space, inst))
    return false;
  inst.flags |= op;
  inst.d = gives ? decoder.target(source.operands[0], type) : decoder.newPlace(8);
  inst.b = decoder.source(source.operands[first + 1], type);
  inst.c = op == Swap ? decoder.source(source.operands[first + 2], type) : inst.b;
  inst.list = decoder.addList({uint32_t(space), gives});
  return true;
}

} // namespace

const Opcodes &reprise::emulator::atomicOpcodes() {
  static const Opcodes opcodes = {{"atom", decodeAtomic, 3}, {"red", decodeAtomic, 2}};
  return opcodes;
}
