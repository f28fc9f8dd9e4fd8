// reprise: integer arithmetic
#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace reprise::emulator;

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
// clang-format off
template <typename T> struct Wider;
template <> struct Wider<uint16_t> { using Type = uint32_t; };
template <> struct Wider<int16_t> { using Type = int32_t; };
template <> struct Wider<uint32_t> { using Type = uint64_t; };
template <> struct Wider<int32_t> { using Type = int64_t; };
template <> struct Wider<uint64_t> { using Type = unsigned __int128; };
template <> struct Wider<int64_t> { using Type = __int128; };

// We compute in 64 bits, because 16-bit operands would become int, whose overflow is undefined.
template <typename T> struct Add { static T of(T a, T b) { return T(uint64_t(a) + uint64_t(b)); } };
template <typename T> struct Sub { static T of(T a, T b) { return T(uint64_t(a) - uint64_t(b)); } };
template <typename T> struct Mul {
  static T of(T a, T b) { return T(std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>(a) * std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>(b)); }
};
template <typename T> struct MulHigh {
  static T of(T a, T b) { using W = typename Wider<T>::Type; return T((W(a) * W(b)) >> (sizeof(T) * 8)); }
};
template <typename T> struct MulWide {
  static auto of(T a, T b) { using W = typename Wider<T>::Type; return W(W(a) * W(b)); }
};
template <typename T> struct Mad { static T of(T a, T b, T c) { return Add<T>::of(Mul<T>::of(a, b), c); } };
template <typename T> struct MadHigh { static T of(T a, T b, T c) { return Add<T>::of(MulHigh<T>::of(a, b), c); } };
template <typename T> struct MadWide {
  template <typename W> static W of(T a, T b, W c) { return Add<W>::of(W(a) * W(b), c); }
};
template <typename T> struct Div {
  static T of(T a, T b) { return b == 0 ? T(-1) : std::is_signed_v<T> && b == T(-1) ? T(0 - Unsigned<T>(a)) : T(a / b); }
};
template <typename T> struct Rem {
  static T of(T a, T b) { return b == 0 ? a : std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b); }
};
template <typename T> struct Min { static T of(T a, T b) { return std::min(a, b); } };
template <typename T> struct Max { static T of(T a, T b) { return std::max(a, b); } };
template <typename T> struct Abs { static T of(T a) { return a < 0 ? T(0 - Unsigned<T>(a)) : a; } };
template <typename T> struct Neg { static T of(T a) { return T(0 - Unsigned<T>(a)); } };
template <typename T> struct Sad { static T of(T a, T b, T c) { return Add<T>::of(a < b ? Sub<T>::of(b, a) : Sub<T>::of(a, b), c); } };
template <typename T> struct AddSat {
  static T of(T a, T b) { T r; return __builtin_add_overflow(a, b, &r) ? (a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()) : r; }
};
template <typename T> struct SubSat {
  static T of(T a, T b) { T r; return __builtin_sub_overflow(a, b, &r) ? (a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()) : r; }
};
// clang-format on

template <template <typename> class Op> Handler binaryOf(Type type) {
  switch (type) {
  case Type::U16:
    return binary<uint16_t, Op<uint16_t>>;
  case Type::S16:
    return binary<int16_t, Op<int16_t>>;
  case Type::U32:
    return binary<uint32_t, Op<uint32_t>>;
  case Type::S32:
    return binary<int32_t, Op<int32_t>>;
  case Type::U64:
    return binary<uint64_t, Op<uint64_t>>;
  case Type::S64:
    return binary<int64_t, Op<int64_t>>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> Handler ternaryOf(Type type) {
  switch (type) {
  case Type::U16:
    return ternary<uint16_t, Op<uint16_t>>;
  case Type::S16:
    return ternary<int16_t, Op<int16_t>>;
  case Type::U32:
    return ternary<uint32_t, Op<uint32_t>>;
  case Type::S32:
    return ternary<int32_t, Op<int32_t>>;
  case Type::U64:
    return ternary<uint64_t, Op<uint64_t>>;
  case Type::S64:
    return ternary<int64_t, Op<int64_t>>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> Handler unaryOf(Type type) {
  switch (type) {
  case Type::S16:
    return unary<int16_t, Op<int16_t>>;
  case Type::S32:
    return unary<int32_t, Op<int32_t>>;
  case Type::S64:
    return unary<int64_t, Op<int64_t>>;
  default:
    return nullptr;
  }
}

bool places(Decoder &decoder, const Instruction &source, Type result, Type operand, Inst &inst) {
  inst.d = decoder.target(source.operands[0], result);
  inst.a = decoder.source(source.operands[1], operand);
  if (source.operands.size() > 2)
    inst.b = decoder.source(source.operands[2], operand);
  if (source.operands.size() > 3)
    inst.c = decoder.source(source.operands[3], result);
  return true;
}

/// Adds `a`, `b` and the carry, where the opcode reads one. A difference is the sum with ~b.
template <typename T, bool inverted> void addCarry(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  bool reads = inst.flags & 1, writes = inst.flags & 2;
  uint32_t carries = reads ? warp.carry : inverted ? allLanes : 0, out = 0;
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    T right = inverted ? ~b[i] : b[i];
    T sum = a[i] + right, all = sum + (carries >> i & 1);
    out |= uint32_t(sum < right || all < sum) << i;
    result[i] = all;
  }
  if (writes)
    warp.carry = (warp.carry & ~warp.mask) | (out & warp.mask);
  warp.store<T>(inst.d, result);
}

/// The low or high half of a product, plus c, plus the carry.
template <typename T> void madCarry(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b), *c = warp.at<T>(inst.c);
  uint32_t carries = inst.flags & 1 ? warp.carry : 0, out = 0;
  bool high = inst.flags & 4;
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    T part = high ? MulHigh<T>::of(a[i], b[i]) : Mul<T>::of(a[i], b[i]);
    T sum = part + c[i], all = sum + (carries >> i & 1);
    out |= uint32_t(sum < part || all < sum) << i;
    result[i] = all;
  }
  if (inst.flags & 2)
    warp.carry = (warp.carry & ~warp.mask) | (out & warp.mask);
  warp.store<T>(inst.d, result);
}

bool decodeCarry(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool isAdd = source.opcode[0] == 'a', isMad = source.opcode[0] == 'm';
  inst.flags = (source.opcode.back() == 'c' ? 1 : 0) | (modifiers.take("cc") ? 2 : 0);
  if (isMad)
    inst.flags |= modifiers.takeOneOf({"lo", "hi"}) == 1 ? 4 : 0;
  Type type = modifiers.takeType();
  bool wide = bitsOf(type) == 64;
  if (bitsOf(type) < 32 || isFloat(type) || (isMad && isSigned(type) && (inst.flags & 4)))
    return false;
  if (isMad)
    inst.run = wide ? madCarry<uint64_t> : madCarry<uint32_t>;
  else if (isAdd)
    inst.run = wide ? addCarry<uint64_t, false> : addCarry<uint32_t, false>;
  else
    inst.run = wide ? addCarry<uint64_t, true> : addCarry<uint32_t, true>;
  return places(decoder, source, type, type, inst);
}

bool hasModifier(const Instruction &source, const char *name) {
  return std::find(source.modifiers.begin(), source.modifiers.end(), name) !=
         source.modifiers.end();
}

bool isOfFloats(const Instruction &source) {
  for (const std::string &name : source.modifiers)
    if (isFloat(typeNamed(name)))
      return true;
  return false;
}

/// Decodes add, sub, div, rem, min, max, abs, neg, sad: all operands have one type.
bool decodeArithmetic(Decoder &decoder, const Instruction &source, Modifiers &modifiers,
                      Inst &inst) {
  if (isOfFloats(source))
    return decodeFloat(decoder, source, modifiers, inst);
  if (hasModifier(source, "cc"))
    return decodeCarry(decoder, source, modifiers, inst);
  const std::string &op = source.opcode;
  bool saturates = (op == "add" || op == "sub") && modifiers.take("sat");
  Type type = modifiers.takeType();
  if (saturates && type == Type::S32)
    inst.run = op == "add" ? binary<int32_t, AddSat<int32_t>> : binary<int32_t, SubSat<int32_t>>;
  else if (!saturates)
    inst.run = op == "add"   ? binaryOf<Add>(type)
               : op == "sub" ? binaryOf<Sub>(type)
               : op == "div" ? binaryOf<Div>(type)
               : op == "rem" ? binaryOf<Rem>(type)
               : op == "min" ? binaryOf<Min>(type)
               : op == "max" ? binaryOf<Max>(type)
               : op == "abs" ? unaryOf<Abs>(type)
               : op == "neg" ? unaryOf<Neg>(type)
                             : ternaryOf<Sad>(type);
  return inst.run && places(decoder, source, type, type, inst);
}

Type widerType(Type type) {
  return type == Type::U16   ? Type::U32
         : type == Type::S16 ? Type::S32
         : type == Type::U32 ? Type::U64
         : type == Type::S32 ? Type::S64
                             : Type::None;
}

Handler wideHandler(Type type, bool mad) {
  switch (type) {
  case Type::U16:
    return mad ? ternary<uint16_t, MadWide<uint16_t>, 1, uint32_t>
               : binary<uint16_t, MulWide<uint16_t>, 1, uint32_t>;
  case Type::S16:
    return mad ? ternary<int16_t, MadWide<int16_t>, 1, int32_t>
               : binary<int16_t, MulWide<int16_t>, 1, int32_t>;
  case Type::U32:
    return mad ? ternary<uint32_t, MadWide<uint32_t>, 1, uint64_t>
               : binary<uint32_t, MulWide<uint32_t>, 1, uint64_t>;
  case Type::S32:
    return mad ? ternary<int32_t, MadWide<int32_t>, 1, int64_t>
               : binary<int32_t, MulWide<int32_t>, 1, int64_t>;
  default:
    return nullptr;
  }
}

/// Decodes mul and mad, which keep a half or the whole product.
bool decodeMultiply(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (isOfFloats(source))
    return decodeFloat(decoder, source, modifiers, inst);
  if (hasModifier(source, "cc"))
    return decodeCarry(decoder, source, modifiers, inst);
  bool mad = source.opcode == "mad";
  int part = modifiers.takeOneOf({"lo", "hi", "wide"});
  Type type = modifiers.takeType();
  if (part == 2)
    inst.run = wideHandler(type, mad);
  else if (part == 1)
    inst.run = mad ? ternaryOf<MadHigh>(type) : binaryOf<MulHigh>(type);
  else if (part == 0)
    inst.run = mad ? ternaryOf<Mad>(type) : binaryOf<Mul>(type);
  return inst.run && places(decoder, source, part == 2 ? widerType(type) : type, type, inst);
}

} // namespace

const Opcodes &reprise::emulator::integerOpcodes() {
  static const Opcodes opcodes = {
      {"add", decodeArithmetic, 3}, {"sub", decodeArithmetic, 3}, {"div", decodeArithmetic, 3},
      {"rem", decodeArithmetic, 3}, {"min", decodeArithmetic, 3}, {"max", decodeArithmetic, 3},
      {"abs", decodeArithmetic, 2}, {"neg", decodeArithmetic, 2}, {"sad", decodeArithmetic, 4},
      {"mul", decodeMultiply, 3},   {"mad", decodeMultiply, 4},   {"addc", decodeCarry, 3},
      {"subc", decodeCarry, 3},     {"madc", decodeCarry, 4}};
  return opcodes;
}
