// reprise: comparisons, selections, moves
#include "Decoder.h"
#include "FloatBits.h"
#include "Lanes.h"

using namespace reprise::emulator;

namespace {

enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan };

struct Relation {
  const char *name;
  Compare compare;
  bool unordered; ///< whether it holds if an operand is a NaN
};
const Relation relations[] = {
    {"eq", Compare::Eq, false}, {"ne", Compare::Ne, false},   {"lt", Compare::Lt, false},
    {"le", Compare::Le, false}, {"gt", Compare::Gt, false},   {"ge", Compare::Ge, false},
    {"lo", Compare::Lt, false}, {"ls", Compare::Le, false},   {"hi", Compare::Gt, false},
    {"hs", Compare::Ge, false}, {"equ", Compare::Eq, true},   {"neu", Compare::Ne, true},
    {"ltu", Compare::Lt, true}, {"leu", Compare::Le, true},   {"gtu", Compare::Gt, true},
    {"geu", Compare::Ge, true}, {"num", Compare::Num, false}, {"nan", Compare::Nan, true}};

struct Half {
  uint16_t bits;
  operator float() const { return fromHalf(bits); }
};
struct Bfloat {
  uint16_t bits;
  operator float() const { return fromBfloat(bits); }
};

template <typename T> bool isNan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return value != value;
}

template <Compare compare, typename T> bool holds(T a, T b) {
  switch (compare) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  default:
    return compare == Compare::Nan ? isNan(a) || isNan(b) : !(isNan(a) || isNan(b));
  }
}

template <typename T> struct Value {
  using Type = T;
};
template <> struct Value<Half> {
  using Type = float;
};
template <> struct Value<Bfloat> {
  using Type = float;
};

template <Compare compare, typename T> uint32_t compareLanes(Warp &warp, const Inst &inst) {
  using V = typename Value<T>::Type;
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  uint32_t bits = 0;
  bool unordered = inst.flags & 1;
  for (unsigned i = 0; i < lanes; ++i) {
    V left = a[i], right = b[i];
    bool either = isNan(left) || isNan(right);
    bool result = either ? unordered : holds<compare>(left, right);
    bits |= uint32_t(result) << i;
  }
  return bits;
}

constexpr uint16_t flagUnordered = 1, flagCombines = 2, flagNegated = 4, flagBoth = 8,
                   shiftBool = 4; ///< and, or, xor from bit 4 on

uint32_t combine(uint16_t flags, uint32_t left, uint32_t right) {
  int op = flags >> shiftBool;
  return op == 0 ? left & right : op == 1 ? left | right : left ^ right;
}

template <Compare compare, typename T> void setPredicate(Warp &warp, const Inst &inst) {
  uint32_t bits = compareLanes<compare, T>(warp, inst), other = ~bits;
  if (inst.flags & flagCombines) {
    uint32_t third = warp.predicate(inst.c);
    third = inst.flags & flagNegated ? ~third : third;
    bits = combine(inst.flags, bits, third);
    other = combine(inst.flags, other, third);
  }
  warp.setPredicate(inst.d, bits);
  if (inst.flags & flagBoth)
    warp.setPredicate(inst.list, other);
}

template <Compare compare> Handler handlerFor(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return setPredicate<compare, uint16_t>;
  case Type::S16:
    return setPredicate<compare, int16_t>;
  case Type::B32:
  case Type::U32:
    return setPredicate<compare, uint32_t>;
  case Type::S32:
    return setPredicate<compare, int32_t>;
  case Type::B64:
  case Type::U64:
    return setPredicate<compare, uint64_t>;
  case Type::S64:
    return setPredicate<compare, int64_t>;
  case Type::F32:
    return setPredicate<compare, float>;
  case Type::F64:
    return setPredicate<compare, double>;
  case Type::F16:
    return setPredicate<compare, Half>;
  case Type::BF16:
    return setPredicate<compare, Bfloat>;
  default:
    return nullptr;
  }
}

Handler handlerFor(Compare compare, Type type) {
  switch (compare) {
  case Compare::Eq:
    return handlerFor<Compare::Eq>(type);
  case Compare::Ne:
    return handlerFor<Compare::Ne>(type);
  case Compare::Lt:
    return handlerFor<Compare::Lt>(type);
  case Compare::Le:
    return handlerFor<Compare::Le>(type);
  case Compare::Gt:
    return handlerFor<Compare::Gt>(type);
  case Compare::Ge:
    return handlerFor<Compare::Ge>(type);
  case Compare::Num:
    return handlerFor<Compare::Num>(type);
  case Compare::Nan:
    return handlerFor<Compare::Nan>(type);
  }
  return nullptr;
}

bool takeRelation(Modifiers &modifiers, Relation &found) {
  for (const Relation &relation : relations)
    if (modifiers.take(relation.name)) {
      found = relation;
      return true;
    }
  return false;
}

bool decodeSetp(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Relation relation;
  if (!takeRelation(modifiers, relation))
    return false;
  int boolean = modifiers.takeOneOf({"and", "or", "xor"});
  Type type = modifiers.takeType();
  inst.run = handlerFor(relation.compare, type);
  inst.flags = relation.unordered || relation.compare == Compare::Nan ? flagUnordered : 0;
  const Operand &result = source.operands[0];
  if (result.kind == Operand::Kind::Pair) {
    inst.flags |= flagBoth;
    inst.d = decoder.predicate(result.elements[0]);
    inst.list = decoder.predicate(result.elements[1]);
  } else {
    inst.d = decoder.predicate(result);
  }
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], type);
  if (boolean < 0)
    return source.operands.size() == 3;
  if (source.operands.size() != 4)
    return false;
  Operand third = source.operands[3];
  inst.flags |= flagCombines | (third.negated ? flagNegated : 0) | boolean << shiftBool;
  inst.c = decoder.predicate(third);
  return true;
}

template <typename T> void select(Warp &warp, const Inst &inst) {
  const T *a = warp.at<T>(inst.a), *b = warp.at<T>(inst.b);
  uint32_t chosen = warp.predicate(inst.c);
  T result[lanes];
  for (unsigned i = 0; i < lanes; ++i)
    result[i] = chosen >> i & 1 ? a[i] : b[i];
  warp.store<T>(inst.d, result);
}

bool decodeSelect(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType();
  unsigned bits = bitsOf(type);
  inst.run = bits == 16   ? select<uint16_t>
             : bits == 32 ? select<uint32_t>
             : bits == 64 ? select<uint64_t>
                          : nullptr;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  inst.b = decoder.source(source.operands[2], type);
  inst.c = decoder.predicate(source.operands[3]);
  return true;
}

template <typename T> void move(Warp &warp, const Inst &inst) {
  T result[lanes];
  std::memcpy(result, warp.at<T>(inst.a), sizeof result);
  warp.store<T>(inst.d, result);
}
void movePredicate(Warp &warp, const Inst &inst) {
  warp.setPredicate(inst.d, warp.predicate(inst.a));
}

/// Makes one value of `count` parts, the lowest first.
template <typename Whole, typename Part> void pack(Warp &warp, const Inst &inst) {
  const uint32_t *parts = &warp.program->lists[inst.list];
  Whole result[lanes] = {};
  for (unsigned part = 0; part < sizeof(Whole) / sizeof(Part); ++part)
    for (unsigned i = 0; i < lanes; ++i)
      result[i] |= Whole(warp.at<Part>(parts[part])[i]) << (sizeof(Part) * 8 * part);
  warp.store<Whole>(inst.d, result);
}

template <typename Whole, typename Part> void unpack(Warp &warp, const Inst &inst) {
  const uint32_t *parts = &warp.program->lists[inst.list];
  Whole whole[lanes];
  std::memcpy(whole, warp.at<Whole>(inst.a), sizeof whole);
  for (unsigned part = 0; part < sizeof(Whole) / sizeof(Part); ++part) {
    Part result[lanes];
    for (unsigned i = 0; i < lanes; ++i)
      result[i] = Part(whole[i] >> (sizeof(Part) * 8 * part));
    warp.store<Part>(parts[part], result);
  }
}

bool decodeParts(Decoder &decoder, const Instruction &source, Type type, bool packs, Inst &inst) {
  const Operand &vector = source.operands[packs ? 1 : 0];
  unsigned whole = bitsOf(type),
           part = vector.elements.empty() ? 0 : whole / vector.elements.size();
  Type partType = part == 8    ? Type::B8
                  : part == 16 ? Type::B16
                  : part == 32 ? Type::B32
                               : Type::None;
  if (whole == 64 && part == 32)
    inst.run = packs ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>;
  else if (whole == 64 && part == 16)
    inst.run = packs ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>;
  else if (whole == 32 && part == 16)
    inst.run = packs ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>;
  else
    return false;
  std::vector<uint32_t> list;
  for (const Operand &element : vector.elements)
    list.push_back(packs ? decoder.source(element, partType) : decoder.target(element, partType));
  inst.list = decoder.addList(list);
  if (packs)
    inst.d = decoder.target(source.operands[0], type);
  else
    inst.a = decoder.source(source.operands[1], type);
  return true;
}

bool decodeMove(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  Type type = modifiers.takeType();
  if (source.operands[1].kind == Operand::Kind::Vector)
    return decodeParts(decoder, source, type, true, inst);
  if (source.operands[0].kind == Operand::Kind::Vector)
    return decodeParts(decoder, source, type, false, inst);
  if (type == Type::Pred) {
    inst.run = movePredicate;
    inst.d = decoder.predicate(source.operands[0]);
    inst.a = decoder.predicate(source.operands[1]);
    return true;
  }
  unsigned bits = bitsOf(type);
  inst.run = bits == 16   ? move<uint16_t>
             : bits == 32 ? move<uint32_t>
             : bits == 64 ? move<uint64_t>
                          : nullptr;
  inst.d = decoder.target(source.operands[0], type);
  inst.a = decoder.source(source.operands[1], type);
  return true;
}

} // namespace

const Opcodes &reprise::emulator::compareOpcodes() {
  static const Opcodes opcodes = {
      {"setp", decodeSetp, 3}, {"selp", decodeSelect, 4}, {"mov", decodeMove, 2}};
  return opcodes;
}
