// reprise: arithmetic of floats
#include "Decoder.h"
#include "FloatBits.h"
#include "Lanes.h"

using namespace reprise::emulator;

namespace {

/// Read and write conversions of a type. Arithmetic is in `Wide`; its 16-bit result is rounded
/// once, which is right for one operation since Wide has more than twice the bits.
struct AsF32 {
  using Bits = float;
  using Wide = float;
  static float widen(float value) { return value; }
  static float narrow(float value) { return canonical(value); }
  static float fused(float a, float b, float c) { return canonical(__builtin_fmaf(a, b, c)); }
};
struct AsF64 {
  using Bits = double;
  using Wide = double;
  static double widen(double value) { return value; }
  static double narrow(double value) { return value; }
  static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct AsF16 {
  using Bits = uint16_t;
  using Wide = float;
  static float widen(uint16_t value) { return fromHalf(value); }
  static uint16_t narrow(float value) { return toHalf(value); }
  static uint16_t fused(uint16_t a, uint16_t b, uint16_t c) {
    return fusedNarrow(fromHalf(a), fromHalf(b), fromHalf(c), toHalf);
  }
};
struct AsBf16 {
  using Bits = uint16_t;
  using Wide = float;
  static float widen(uint16_t value) { return fromBfloat(value); }
  static uint16_t narrow(float value) { return toBfloat(value); }
  static uint16_t fused(uint16_t a, uint16_t b, uint16_t c) {
    return fusedNarrow(fromBfloat(a), fromBfloat(b), fromBfloat(c), toBfloat);
  }
};

// clang-format off
template <typename F> struct Add { static auto of(typename F::Bits a, typename F::Bits b) { return F::narrow(F::widen(a) + F::widen(b)); } };
template <typename F> struct Sub { static auto of(typename F::Bits a, typename F::Bits b) { return F::narrow(F::widen(a) - F::widen(b)); } };
template <typename F> struct Mul { static auto of(typename F::Bits a, typename F::Bits b) { return F::narrow(F::widen(a) * F::widen(b)); } };
template <typename F> struct Div { static auto of(typename F::Bits a, typename F::Bits b) { return F::narrow(F::widen(a) / F::widen(b)); } };
template <typename F> struct Fma { static auto of(typename F::Bits a, typename F::Bits b, typename F::Bits c) { return F::fused(a, b, c); } };
template <typename F> struct Rcp { static auto of(typename F::Bits a) { return F::narrow(1 / F::widen(a)); } };
inline float rootOf(float value) { return __builtin_sqrtf(value); }
inline double rootOf(double value) { return __builtin_sqrt(value); }
template <typename F> struct Sqrt { static auto of(typename F::Bits a) { return F::narrow(rootOf(F::widen(a))); } };

template <typename Bits> struct Magnitude;
template <> struct Magnitude<float> { using Word = uint32_t; };
template <> struct Magnitude<double> { using Word = uint64_t; };
template <> struct Magnitude<uint16_t> { using Word = uint16_t; };
template <typename Bits> constexpr auto signBit = typename Magnitude<Bits>::Word(typename Magnitude<Bits>::Word(1) << (sizeof(Bits) * 8 - 1));
template <typename F> struct Abs {
  static auto of(typename F::Bits a) { using W = typename Magnitude<typename F::Bits>::Word; return bitCast<typename F::Bits>(W(bitCast<W>(a) & W(~signBit<typename F::Bits>))); }
};
template <typename F> struct Neg {
  static auto of(typename F::Bits a) { using W = typename Magnitude<typename F::Bits>::Word; return bitCast<typename F::Bits>(W(bitCast<W>(a) ^ signBit<typename F::Bits>)); }
};
/// The sign of the first operand, the magnitude of the second.
template <typename F> struct CopySign {
  static auto of(typename F::Bits a, typename F::Bits b) {
    using W = typename Magnitude<typename F::Bits>::Word; constexpr W sign = signBit<typename F::Bits>;
    return bitCast<typename F::Bits>(W((bitCast<W>(a) & sign) | (bitCast<W>(b) & W(~sign))));
  }
};
// clang-format on

/// The smaller or larger operand; -0 is less than +0. Of a NaN and a number the number is taken,
/// unless `nan`.
template <typename F, bool larger, bool nan> struct Extreme {
  using Bits = typename F::Bits;
  static Bits of(Bits first, Bits second) {
    using W = typename Magnitude<Bits>::Word;
    auto a = F::widen(first), b = F::widen(second);
    bool sign = bitCast<W>(first) & signBit<Bits>;
    bool takeFirst = a == b ? sign != larger : larger ? a > b : a < b;
    Bits result = takeFirst ? first : second;
    bool firstIsNan = a != a, secondIsNan = b != b;
    auto none = F::narrow(a + b); // a NaN if either is
    if (nan)
      return firstIsNan || secondIsNan ? none : result;
    result = firstIsNan ? second : result;
    result = secondIsNan ? first : result;
    return firstIsNan && secondIsNan ? none : result;
  }
};
template <typename F> struct Min : Extreme<F, false, false> {};
template <typename F> struct Max : Extreme<F, true, false> {};
template <typename F> struct MinNan : Extreme<F, false, true> {};
template <typename F> struct MaxNan : Extreme<F, true, true> {};

// Handlers of an operation for the types that have it.
template <template <typename> class Op> Handler binaryOf(Type type) {
  switch (type) {
  case Type::F32:
    return binary<float, Op<AsF32>>;
  case Type::F32x2:
    return binary<float, Op<AsF32>, 2>;
  case Type::F64:
    return binary<double, Op<AsF64>>;
  case Type::F16:
    return binary<uint16_t, Op<AsF16>>;
  case Type::F16x2:
    return binary<uint16_t, Op<AsF16>, 2>;
  case Type::BF16:
    return binary<uint16_t, Op<AsBf16>>;
  case Type::BF16x2:
    return binary<uint16_t, Op<AsBf16>, 2>;
  default:
    return nullptr;
  }
}

template <template <typename> class Op> Handler unaryOf(Type type) {
  switch (type) {
  case Type::F32:
    return unary<float, Op<AsF32>>;
  case Type::F64:
    return unary<double, Op<AsF64>>;
  case Type::F16:
    return unary<uint16_t, Op<AsF16>>;
  case Type::F16x2:
    return unary<uint16_t, Op<AsF16>, 2>;
  case Type::BF16:
    return unary<uint16_t, Op<AsBf16>>;
  case Type::BF16x2:
    return unary<uint16_t, Op<AsBf16>, 2>;
  default:
    return nullptr;
  }
}

Handler fusedOf(Type type) {
  switch (type) {
  case Type::F32:
    return ternary<float, Fma<AsF32>>;
  case Type::F32x2:
    return ternary<float, Fma<AsF32>, 2>;
  case Type::F64:
    return ternary<double, Fma<AsF64>>;
  case Type::F16:
    return ternary<uint16_t, Fma<AsF16>>;
  case Type::F16x2:
    return ternary<uint16_t, Fma<AsF16>, 2>;
  case Type::BF16:
    return ternary<uint16_t, Fma<AsBf16>>;
  case Type::BF16x2:
    return ternary<uint16_t, Fma<AsBf16>, 2>;
  default:
    return nullptr;
  }
}

/// Returns the handler of an operation of f32 and f64 only.
template <template <typename> class Op> Handler wideUnary(Type type) {
  return type == Type::F32 || type == Type::F64 ? unaryOf<Op>(type) : nullptr;
}

bool isWide(Type type) { return type == Type::F32 || type == Type::F64; }

Handler handlerOf(const std::string &op, Type type, Modifiers &modifiers) {
  if (op == "min" || op == "max") {
    bool nan = modifiers.take("NaN"), isMin = op == "min";
    return isMin ? (nan ? binaryOf<MinNan>(type) : binaryOf<Min>(type))
                 : (nan ? binaryOf<MaxNan>(type) : binaryOf<Max>(type));
  }
  if (op == "abs" || op == "neg")
    return op == "abs" ? unaryOf<Abs>(type) : unaryOf<Neg>(type);
  if (op == "copysign")
    return isWide(type) ? binaryOf<CopySign>(type) : nullptr;
  bool rounds = modifiers.take("rn");
  // ptxas may fuse an operation without .rn; the emulator does not.
  if (op == "add" || op == "sub" || op == "mul")
    return op == "add"   ? binaryOf<Add>(type)
           : op == "sub" ? binaryOf<Sub>(type)
                         : binaryOf<Mul>(type);
  if (!rounds)
    return nullptr;
  if (op == "fma" || (op == "mad" && isWide(type)))
    return fusedOf(type);
  if (op == "div")
    return isWide(type) ? binaryOf<Div>(type) : nullptr;
  return op == "rcp" ? wideUnary<Rcp>(type) : op == "sqrt" ? wideUnary<Sqrt>(type) : nullptr;
}

/// Executes add.f32.bf16 and similar: all operands but the last have 16 bits and are widened.
template <typename F, char op> void mixed(Warp &warp, const Inst &inst) {
  const auto *a = warp.at<uint16_t>(inst.a), *b = warp.at<uint16_t>(inst.b);
  const float *last = warp.at<float>(op == 'f' ? inst.c : inst.b);
  float result[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    float wide = F::widen(a[i]), other = last[i];
    result[i] = op == '+'   ? canonical(wide + other)
                : op == '-' ? canonical(wide - other)
                            : AsF32::fused(wide, F::widen(b[i]), other);
  }
  warp.store<float>(inst.d, result);
}

template <typename F> Handler mixedOf(const std::string &op) {
  return op == "add"   ? mixed<F, '+'>
         : op == "sub" ? mixed<F, '-'>
         : op == "fma" ? mixed<F, 'f'>
                       : nullptr;
}

bool decodeMixed(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Type narrow,
                 Inst &inst) {
  size_t count = source.operands.size();
  inst.run = narrow == Type::F16    ? mixedOf<AsF16>(source.opcode)
             : narrow == Type::BF16 ? mixedOf<AsBf16>(source.opcode)
                                    : nullptr;
  if (!inst.run || count != (source.opcode == "fma" ? 4 : 3) || !modifiers.take("rn"))
    return false;
  inst.d = decoder.target(source.operands[0], Type::F32);
  inst.a = decoder.source(source.operands[1], narrow);
  inst.b = decoder.source(source.operands[2], count == 4 ? narrow : Type::F32);
  if (count == 4)
    inst.c = decoder.source(source.operands[3], Type::F32);
  return true;
}

/// Infinite, finite, number, not a number, and so on, of one operand.
template <typename F> void testProperty(Warp &warp, const Inst &inst) {
  const auto *a = warp.at<typename F::Bits>(inst.a);
  uint32_t bits = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    int kind = std::fpclassify(a[i]);
    const int kinds[] = {FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL};
    bool holds = inst.flags == 0   ? kind != FP_NAN && kind != FP_INFINITE
                 : inst.flags == 1 ? kind != FP_NAN
                                   : kind == kinds[inst.flags - 2];
    bits |= uint32_t(holds) << i;
  }
  warp.setPredicate(inst.d, bits);
}

bool decodeTest(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  int kind =
      modifiers.takeOneOf({"finite", "number", "notanumber", "infinite", "normal", "subnormal"});
  Type type = modifiers.takeType();
  if (kind < 0 || !isWide(type))
    return false;
  inst.flags = kind;
  inst.run = type == Type::F32 ? testProperty<AsF32> : testProperty<AsF64>;
  inst.d = decoder.predicate(source.operands[0]);
  inst.a = decoder.source(source.operands[1], type);
  return true;
}

} // namespace

bool reprise::emulator::decodeFloat(Decoder &decoder, const Instruction &source,
                                    Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType(), second = modifiers.takeType();
  if (second != Type::None)
    return type == Type::F32 && decodeMixed(decoder, source, modifiers, second, inst);
  inst.run = handlerOf(source.opcode, type, modifiers);
  if (!inst.run)
    return false;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  if (source.operands.size() > 2)
    inst.b = decoder.source(source.operands[2], type);
  if (source.operands.size() > 3)
    inst.c = decoder.source(source.operands[3], type);
  return true;
}

const Opcodes &reprise::emulator::floatOpcodes() {
  static const Opcodes opcodes = {{"fma", decodeFloat, 4},
                                  {"rcp", decodeFloat, 2},
                                  {"sqrt", decodeFloat, 2},
                                  {"copysign", decodeFloat, 3},
                                  {"testp", decodeTest, 2}};
  return opcodes;
}
