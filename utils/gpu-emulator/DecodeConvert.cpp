// reprise: conversions of numbers, with their roundings
#include "Decoder.h"
#include "FloatBits.h"
#include "Lanes.h"

#include <limits>

using namespace reprise::emulator;

namespace {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
template <typename T> constexpr bool isFloating = !std::is_integral_v<T>;
template <typename T> constexpr bool isNarrow = isFloating<T> && sizeof(T) == 2;

constexpr uint16_t flagSaturates = 8, flagIntegral = 16, maskRound = 7;

// Values of 16 bits are widened; wider values stay unchanged.
inline float widen(Half value) { return fromHalf(value.bits); }
inline float widen(Bfloat value) { return fromBfloat(value.bits); }
template <typename T> inline T widen(T value) { return value; }

template <typename F> F roundToIntegral(F value, Round round) {
  switch (round) {
  case Round::Nearest:
    return __builtin_nearbyint(value);
  case Round::Zero:
    return __builtin_trunc(value);
  case Round::Down:
    return __builtin_floor(value);
  default:
    return __builtin_ceil(value);
  }
}

/// Saturates; a NaN gives 0, or the lowest bit pattern of 64-bit types and of f64.
template <typename D, typename S> D toInteger(S value, Round round) {
  double whole = roundToIntegral<double>(value, round);
  if (whole != whole)
    return sizeof(D) == 8 || sizeof(S) == 8 ? D(uint64_t(1) << (sizeof(D) * 8 - 1)) : D(0);
  constexpr double above = std::is_signed_v<D> ? double(uint64_t(1) << (sizeof(D) * 8 - 1))
                                               : 2.0 * double(uint64_t(1) << (sizeof(D) * 8 - 1));
  if (whole >= above)
    return std::numeric_limits<D>::max();
  if (whole < (std::is_signed_v<D> ? -above : 0.0))
    return std::numeric_limits<D>::min();
  return static_cast<D>(whole);
}

template <typename D, typename S> D integerToInteger(S value, bool saturates) {
  if (!saturates)
    return static_cast<D>(value);
  __int128 wide = value;
  if (wide < __int128(std::numeric_limits<D>::min()))
    return std::numeric_limits<D>::min();
  if (wide > __int128(std::numeric_limits<D>::max()))
    return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

template <typename Bits> Bits stepBits(Bits bits, int step) { return bits + step; }

/// Rounds a number, exact in `S`, to a float type.
template <typename D, typename S> D toFloat(S value, Round round) {
  long double exact = value;
  if constexpr (std::is_same_v<D, float>) {
    float nearest = canonical(static_cast<float>(value));
    return redirect(nearest, nearest, exact, round,
                    [](float f, int step) { return bitCast<float>(bitCast<uint32_t>(f) + step); });
  } else if constexpr (std::is_same_v<D, double>) {
    double nearest = static_cast<double>(value);
    return redirect(nearest, nearest, exact, round, [](double f, int step) {
      return bitCast<double>(bitCast<uint64_t>(f) + step);
    });
  } else {
    float odd = toOddFloat(exact);
    D nearest{std::is_same_v<D, Half> ? toHalf(odd) : toBfloat(odd)};
    return redirect(nearest, double(widen(nearest)), exact, round,
                    [](D f, int step) { return D{uint16_t(f.bits + step)}; });
  }
}

template <typename D, typename S> D convertOne(S from, uint16_t flags) {
  auto value = widen(from);
  Round round = Round(flags & maskRound);
  if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
    return integerToInteger<D>(value, flags & flagSaturates);
  } else if constexpr (std::is_integral_v<D>) {
    return toInteger<D>(value, round);
  } else {
    if constexpr (isFloating<S>) {
      if (flags & flagIntegral)
        value = roundToIntegral(value, round);
      if (flags & flagSaturates)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    }
    return toFloat<D>(value, flags & flagIntegral ? Round::Nearest : round);
  }
}

template <typename D, typename S> D convertNearest(S from) {
  auto value = widen(from);
  if constexpr (std::is_same_v<D, float>)
    return canonical(static_cast<float>(value));
  else if constexpr (std::is_same_v<D, double>)
    return static_cast<double>(value);
  else if constexpr (std::is_same_v<decltype(value), float>)
    return D{std::is_same_v<D, Half> ? toHalf(value) : toBfloat(value)};
  else
    return toFloat<D>(value, Round::Nearest);
}

template <typename Wide, typename D>
void storeExtended(Warp &warp, const Inst &inst, const D *values) {
  Wide wide[lanes];
  for (unsigned i = 0; i < lanes; ++i)
    wide[i] = values[i];
  warp.store<Wide>(inst.d, wide);
}

/// Converts values. A register may be wider than the type: its low part is read, and a written
/// value is extended.
template <typename D, typename S> void convert(Warp &warp, const Inst &inst) {
  const unsigned stride = inst.b;
  const uint8_t *from = warp.at<uint8_t>(inst.a);
  D result[lanes];
  S value[lanes];
  if (stride == sizeof(S))
    std::memcpy(value, from, sizeof value);
  else
    for (unsigned i = 0; i < lanes; ++i)
      std::memcpy(&value[i], from + stride * i, sizeof(S));
  if constexpr (isFloating<D>) {
    if (inst.flags == 0) {
      for (unsigned i = 0; i < lanes; ++i)
        result[i] = convertNearest<D>(value[i]);
      return warp.store<D>(inst.d, result);
    }
  }
  for (unsigned i = 0; i < lanes; ++i)
    result[i] = convertOne<D, S>(value[i], inst.flags);
  if constexpr (std::is_integral_v<D>) {
    if (inst.c == 8 && sizeof(D) < 8)
      return storeExtended<uint64_t>(warp, inst, result);
    if (inst.c == 4 && sizeof(D) < 4)
      return storeExtended<uint32_t>(warp, inst, result);
    if (inst.c == 2 && sizeof(D) == 1)
      return storeExtended<uint16_t>(warp, inst, result);
  }
  warp.store<D>(inst.d, result);
}

template <typename S> Handler convertFrom(Type to) {
  switch (to) {
  case Type::U8:
    return convert<uint8_t, S>;
  case Type::S8:
    return convert<int8_t, S>;
  case Type::U16:
    return convert<uint16_t, S>;
  case Type::S16:
    return convert<int16_t, S>;
  case Type::U32:
    return convert<uint32_t, S>;
  case Type::S32:
    return convert<int32_t, S>;
  case Type::U64:
    return convert<uint64_t, S>;
  case Type::S64:
    return convert<int64_t, S>;
  case Type::F16:
    return convert<Half, S>;
  case Type::BF16:
    return convert<Bfloat, S>;
  case Type::F32:
    return convert<float, S>;
  case Type::F64:
    return convert<double, S>;
  default:
    return nullptr;
  }
}

Handler convertHandler(Type to, Type from) {
  switch (from) {
  case Type::U8:
    return convertFrom<uint8_t>(to);
  case Type::S8:
    return convertFrom<int8_t>(to);
  case Type::U16:
    return convertFrom<uint16_t>(to);
  case Type::S16:
    return convertFrom<int16_t>(to);
  case Type::U32:
    return convertFrom<uint32_t>(to);
  case Type::S32:
    return convertFrom<int32_t>(to);
  case Type::U64:
    return convertFrom<uint64_t>(to);
  case Type::S64:
    return convertFrom<int64_t>(to);
  case Type::F16:
    return convertFrom<Half>(to);
  case Type::BF16:
    return convertFrom<Bfloat>(to);
  case Type::F32:
    return convertFrom<float>(to);
  case Type::F64:
    return convertFrom<double>(to);
  default:
    return nullptr;
  }
}

/// Converts two f32 to two 16-bit floats in one register, the first one in the upper half.
template <typename D> void convertPair(Warp &warp, const Inst &inst) {
  const float *a = warp.at<float>(inst.a), *b = warp.at<float>(inst.b);
  uint32_t result[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    D high = convertOne<D>(a[i], inst.flags), low = convertOne<D>(b[i], inst.flags);
    result[i] = uint32_t(high.bits) << 16 | low.bits;
  }
  warp.store<uint32_t>(inst.d, result);
}

/// Ten bits of mantissa, ties away from zero.
struct ToTf32 {
  static uint32_t of(uint32_t bits) {
    bool special = (bits & 0x7f800000) == 0x7f800000;
    uint32_t rounded = (bits + 0x1000) & ~0x1fffu;
    return special ? (bits & 0x7fffff ? 0x7fffffff : bits) : rounded;
  }
};

bool decodePair(Decoder &decoder, const Instruction &source, Type to, Inst &inst) {
  inst.run = to == Type::F16x2 ? convertPair<Half> : convertPair<Bfloat>;
  inst.d = decoder.target(source.operands[0], to);
  inst.a = decoder.source(source.operands[1], Type::F32);
  inst.b = decoder.source(source.operands[2], Type::F32);
  return true;
}

bool decodeConvert(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  int round = modifiers.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  int integral = modifiers.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  bool saturates = modifiers.take("sat");
  Type to = modifiers.takeType(), from = modifiers.takeType();
  inst.flags = std::max(0, round >= 0 ? round : integral) | (saturates ? flagSaturates : 0) |
               (integral >= 0 ? flagIntegral : 0);
  if (to == Type::TF32 && from == Type::F32 && round == 4) {
    inst.run = unary<uint32_t, ToTf32>;
    inst.d = decoder.target(source.operands[0], Type::B32);
    inst.a = decoder.source(source.operands[1], Type::B32);
    return true;
  }
  bool pair = to == Type::F16x2 || to == Type::BF16x2;
  bool narrows = isFloat(to) && (!isFloat(from) || bitsOf(to) < bitsOf(from));
  if (round == 4 || ((narrows || pair) && round < 0) ||
      (!isFloat(to) && isFloat(from) && integral < 0))
    return false;
  if (pair)
    return from == Type::F32 && source.operands.size() == 3 &&
           decodePair(decoder, source, to, inst);
  inst.run = convertHandler(to, from);
  if (!inst.run)
    return false;
  inst.a = decoder.looseOperand(source.operands[1], from, inst.b);
  inst.d = decoder.looseOperand(source.operands[0], to, inst.c);
  return source.operands[0].kind == Operand::Kind::Register &&
         (!isFloat(to) || inst.c * 8 == bitsOf(to));
}

} // namespace

const Opcodes &reprise::emulator::conversionOpcodes() {
  static const Opcodes opcodes = {{"cvt", decodeConvert, 2}};
  return opcodes;
}
