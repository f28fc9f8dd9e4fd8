// reprise: logic, shifts, fields of bits
#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

using namespace reprise::emulator;

namespace {

// clang-format off
template <typename T> struct And { static T of(T a, T b) { return a & b; } };
template <typename T> struct Or { static T of(T a, T b) { return a | b; } };
template <typename T> struct Xor { static T of(T a, T b) { return a ^ b; } };
template <typename T> struct Not { static T of(T a) { return ~a; } };
template <typename T> struct Cnot { static T of(T a) { return a == 0; } };
template <typename T> struct ShiftLeft { static T of(T a, uint32_t n) { return n >= sizeof(T) * 8 ? T(0) : T(a << n); } };
template <typename T> struct ShiftRight {
  static T of(T a, uint32_t n) { return T(a >> std::min<uint32_t>(n, sizeof(T) * 8 - 1)) & (n >= sizeof(T) * 8 && !std::is_signed_v<T> ? T(0) : T(~T(0))); }
};
template <bool wrap> struct FunnelLeft {
  static uint32_t of(uint32_t low, uint32_t high, uint32_t n) { n = wrap ? n & 31 : std::min(n, 32u); return (uint64_t(high) << 32 | low) << n >> 32; }
};
template <bool wrap> struct FunnelRight {
  static uint32_t of(uint32_t low, uint32_t high, uint32_t n) { n = wrap ? n & 31 : std::min(n, 32u); return (uint64_t(high) << 32 | low) >> n; }
};
struct Popc { template <typename T> static uint32_t of(T a) { return __builtin_popcountll(a); } };
struct Clz {
  static uint32_t of(uint32_t a) { return a ? __builtin_clz(a) : 32; }
  static uint32_t of(uint64_t a) { return a ? __builtin_clzll(a) : 64; }
};
struct Brev {
  static uint32_t of(uint32_t a) { return __builtin_bitreverse32(a); }
  static uint64_t of(uint64_t a) { return __builtin_bitreverse64(a); }
};
/// The highest bit that differs from the sign; its distance from the top with `amount`.
template <bool amount> struct Find {
  template <typename T> static uint32_t of(T a) {
    constexpr uint32_t top = sizeof(T) * 8 - 1;
    using U = std::make_unsigned_t<T>;
    U bits = a < 0 ? ~U(a) : U(a);
    uint32_t zeros = Clz::of(std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>(bits));
    return bits == 0 ? ~0u : amount ? zeros : top - zeros;
  }
};
template <typename T> struct Extract {
  static T of(T a, uint32_t start, uint32_t length) {
    constexpr uint32_t top = sizeof(T) * 8 - 1;
    using U = std::make_unsigned_t<T>;
    start &= 255; length &= 255;
    if (length == 0) return 0;
    uint32_t last = std::min(start + length - 1, top);
    T sign = std::is_signed_v<T> ? T(0 - (U(a) >> last & 1)) : T(0);
    if (start > top) return sign;
    length = std::min(length, top + 1 - start); // bits above the value are copies of its sign
    U field = U(a) >> start, mask = length > top ? U(~U(0)) : U((U(1) << length) - 1);
    return T((field & mask) | (U(sign) & U(~mask)));
  }
};
// clang-format on

template <template <typename> class Op> Handler binaryBits(unsigned bits) {
  return bits == 16   ? binary<uint16_t, Op<uint16_t>>
         : bits == 32 ? binary<uint32_t, Op<uint32_t>>
         : bits == 64 ? binary<uint64_t, Op<uint64_t>>
                      : nullptr;
}

template <template <typename> class Op> Handler unaryBits(unsigned bits) {
  return bits == 16   ? unary<uint16_t, Op<uint16_t>>
         : bits == 32 ? unary<uint32_t, Op<uint32_t>>
         : bits == 64 ? unary<uint64_t, Op<uint64_t>>
                      : nullptr;
}

/// Computes logic on predicates: one word holds all lanes.
template <char op> void predicateLogic(Warp &warp, const Inst &inst) {
  uint32_t a = warp.predicate(inst.a), b = warp.predicate(inst.b);
  warp.setPredicate(inst.d, op == '&' ? a & b : op == '|' ? a | b : op == '^' ? a ^ b : ~a);
}

bool decodeLogic(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  const std::string &op = source.opcode;
  Type type = modifiers.takeType();
  unsigned bits = bitsOf(type);
  bool one = op == "not" || op == "cnot";
  if (type == Type::Pred) {
    inst.run = op == "and"   ? predicateLogic<'&'>
               : op == "or"  ? predicateLogic<'|'>
               : op == "xor" ? predicateLogic<'^'>
               : op == "not" ? predicateLogic<'~'>
                             : nullptr;
    inst.d = decoder.predicate(source.operands[0]);
    inst.a = decoder.predicate(source.operands[1]);
    inst.b = one ? inst.a : decoder.predicate(source.operands[2]);
    return true;
  }
  inst.run = op == "and"   ? binaryBits<And>(bits)
             : op == "or"  ? binaryBits<Or>(bits)
             : op == "xor" ? binaryBits<Xor>(bits)
             : op == "not" ? unaryBits<Not>(bits)
                           : unaryBits<Cnot>(bits);
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  if (!one)
    inst.b = decoder.source(source.operands[2], type);
  return true;
}

bool decodeShift(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType();
  if (source.opcode == "shl")
    inst.run = bitsOf(type) == 16   ? shift<uint16_t, ShiftLeft<uint16_t>>
               : bitsOf(type) == 32 ? shift<uint32_t, ShiftLeft<uint32_t>>
                                    : shift<uint64_t, ShiftLeft<uint64_t>>;
  else if (isSigned(type))
    inst.run = bitsOf(type) == 16   ? shift<int16_t, ShiftRight<int16_t>>
               : bitsOf(type) == 32 ? shift<int32_t, ShiftRight<int32_t>>
                                    : shift<int64_t, ShiftRight<int64_t>>;
  else
    inst.run = bitsOf(type) == 16   ? shift<uint16_t, ShiftRight<uint16_t>>
               : bitsOf(type) == 32 ? shift<uint32_t, ShiftRight<uint32_t>>
                                    : shift<uint64_t, ShiftRight<uint64_t>>;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], Type::B32);
  return bitsOf(type) >= 16 && !isFloat(type);
}

bool decodeFunnel(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  int right = modifiers.takeOneOf({"l", "r"});
  int wrap = modifiers.takeOneOf({"clamp", "wrap"});
  if (right < 0 || wrap < 0 || !modifiers.take("b32") || source.operands.size() < 4)
    return false;
  if (right)
    inst.run = wrap ? ternary<uint32_t, FunnelRight<true>> : ternary<uint32_t, FunnelRight<false>>;
  else
    inst.run = wrap ? ternary<uint32_t, FunnelLeft<true>> : ternary<uint32_t, FunnelLeft<false>>;
  inst.d = decoder.target(source.operands[0], Type::B32);
  inst.a = decoder.source(source.operands[1], Type::B32);
  inst.b = decoder.source(source.operands[2], Type::B32);
  inst.c = decoder.source(source.operands[3], Type::B32);
  return true;
}

/// Decodes popc, clz, bfind, brev.
bool decodeCount(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  const std::string &op = source.opcode;
  bool amount = op == "bfind" && modifiers.take("shiftamt");
  Type type = modifiers.takeType();
  bool wide = bitsOf(type) == 64;
  if (bitsOf(type) < 32 || isFloat(type))
    return false;
  if (op == "popc")
    inst.run = wide ? unary<uint64_t, Popc, 1, uint32_t> : unary<uint32_t, Popc>;
  else if (op == "clz")
    inst.run = wide ? unary<uint64_t, Clz, 1, uint32_t> : unary<uint32_t, Clz>;
  else if (op == "brev")
    inst.run = wide ? unary<uint64_t, Brev> : unary<uint32_t, Brev>;
  else if (isSigned(type))
    inst.run = wide ? (amount ? unary<int64_t, Find<true>, 1, uint32_t>
                              : unary<int64_t, Find<false>, 1, uint32_t>)
                    : (amount ? unary<int32_t, Find<true>, 1, uint32_t>
                              : unary<int32_t, Find<false>, 1, uint32_t>);
  else
    inst.run = wide ? (amount ? unary<uint64_t, Find<true>, 1, uint32_t>
                              : unary<uint64_t, Find<false>, 1, uint32_t>)
                    : (amount ? unary<uint32_t, Find<true>> : unary<uint32_t, Find<false>>);
  inst.d = decoder.target(source.operands[0], op == "brev" ? type : Type::U32);
  inst.a = decoder.source(source.operands[1], type);
  return true;
}

template <typename T> void extract(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a);
  const uint32_t *b = warp.at<uint32_t>(inst.b), *c = warp.at<uint32_t>(inst.c);
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i)
    result[i] = Extract<T>::of(a[i], b[i], c[i]);
  warp.store<T>(inst.d, result);
}

bool decodeExtract(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType();
  inst.run = type == Type::U32   ? extract<uint32_t>
             : type == Type::S32 ? extract<int32_t>
             : type == Type::U64 ? extract<uint64_t>
             : type == Type::S64 ? extract<int64_t>
                                 : nullptr;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], Type::U32);
  inst.c = decoder.source(source.operands[3], Type::U32);
  return true;
}

/// Executes bfi d, a, b, start, length: a field of b becomes a.
template <typename T> void insertField(Warp &warp, const Inst &inst) {
  const uint32_t *list = &warp.program->lists[inst.list];
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  const uint32_t *starts = warp.at<uint32_t>(list[0]), *lengths = warp.at<uint32_t>(list[1]);
  constexpr uint32_t bits = sizeof(T) * 8;
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    uint32_t start = starts[i] & 255, length = lengths[i] & 255;
    T field = length >= bits ? ~T(0) : (T(1) << length) - 1;
    T mask = start >= bits ? 0 : field << start;
    T moved = start >= bits ? 0 : a[i] << start;
    result[i] = (b[i] & ~mask) | (moved & mask);
  }
  warp.store<T>(inst.d, result);
}

bool decodeInsert(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType();
  inst.run = type == Type::B32   ? insertField<uint32_t>
             : type == Type::B64 ? insertField<uint64_t>
                                 : nullptr;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], type);
  inst.list = decoder.addList({decoder.source(source.operands[3], Type::U32),
                               decoder.source(source.operands[4], Type::U32)});
  return true;
}

/// Computes each result bit from a table of eight bits; the bits of the three operands are the
/// index.
void lookUp(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.at<uint32_t>(inst.a), *b = warp.at<uint32_t>(inst.b),
                 *c = warp.at<uint32_t>(inst.c);
  uint32_t result[lanes] = {};
  for (unsigned entry = 0; entry < 8; ++entry) {
    if (!(inst.imm >> entry & 1))
      continue;
    uint32_t flipA = entry & 4 ? 0 : ~0u, flipB = entry & 2 ? 0 : ~0u, flipC = entry & 1 ? 0 : ~0u;
    for (unsigned i = 0; i < lanes; ++i)
      result[i] |= (a[i] ^ flipA) & (b[i] ^ flipB) & (c[i] ^ flipC);
  }
  warp.store<uint32_t>(inst.d, result);
}

bool decodeLookUp(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (!modifiers.take("b32") || source.operands[4].kind != Operand::Kind::Immediate)
    return false;
  inst.run = lookUp;
  inst.imm = source.operands[4].value;
  inst.d = decoder.target(source.operands[0], Type::B32);
  inst.a = decoder.source(source.operands[1], Type::B32);
  inst.b = decoder.source(source.operands[2], Type::B32);
  inst.c = decoder.source(source.operands[3], Type::B32);
  return true;
}

/// Permutation of bytes: four bytes, each chosen by four bits of c from the eight of a and b.
struct Permute {
  static uint32_t of(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t selector = c >> 4 * i & 15;
      uint8_t byte = bytes >> 8 * (selector & 7);
      if (selector & 8)
        byte = byte & 0x80 ? 0xff : 0;
      result |= uint32_t(byte) << 8 * i;
    }
    return result;
  }
};

bool decodePermute(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (!modifiers.take("b32"))
    return false;
  inst.run = ternary<uint32_t, Permute>;
  inst.d = decoder.target(source.operands[0], Type::B32);
  inst.a = decoder.source(source.operands[1], Type::B32);
  inst.b = decoder.source(source.operands[2], Type::B32);
  inst.c = decoder.source(source.operands[3], Type::B32);
  return true;
}

} // namespace

const Opcodes &reprise::emulator::bitOpcodes() {
  static const Opcodes opcodes = {
      {"and", decodeLogic, 3},   {"or", decodeLogic, 3},   {"xor", decodeLogic, 3},
      {"not", decodeLogic, 2},   {"cnot", decodeLogic, 2}, {"shl", decodeShift, 3},
      {"shr", decodeShift, 3},   {"shf", decodeFunnel, 4}, {"popc", decodeCount, 2},
      {"clz", decodeCount, 2},   {"brev", decodeCount, 2}, {"bfind", decodeCount, 2},
      {"bfe", decodeExtract, 4}, {"bfi", decodeInsert, 5}, {"lop3", decodeLookUp, 5},
      {"prmt", decodePermute, 4}};
  return opcodes;
}
