// reprise: ldmatrix and mma.sync
#include "Access.h"
#include "Decoder.h"
#include "FloatBits.h"

using namespace reprise::emulator;

namespace {

/// Executes ldmatrix: each group of eight lanes gives the rows of one matrix of 8 by 8 values of 16
/// bits. A lane gets two values of row lane / 4, or of column lane / 4 of a transposed matrix.
void loadMatrix(Warp &warp, const Inst &inst) {
  if (!warp.haveLanes(warp.live))
    return;
  if (warp.live != allLanes)
    return warp.fail(Fault::Divergence, 0, "ldmatrix without all lanes of the warp");
  const uint32_t *places = &warp.program->lists[inst.list];
  for (unsigned matrix = 0; matrix < inst.count; ++matrix) {
    uint16_t rows[8][8];
    for (unsigned row = 0; row < 8; ++row) {
      unsigned lane = matrix * 8 + row;
      const uint8_t *from =
          reachAny(warp, lane, Space(inst.c), addressOf(warp, inst, lane), 16, Kind::Read);
      if (!from)
        return;
      std::memcpy(rows[row], from, 16);
    }
    uint32_t result[lanes];
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned r = lane / 4, c = lane % 4 * 2;
      uint16_t low = inst.flags & 1 ? rows[c][r] : rows[r][c];
      uint16_t high = inst.flags & 1 ? rows[c + 1][r] : rows[r][c + 1];
      result[lane] = uint32_t(high) << 16 | low;
    }
    warp.store<uint32_t>(places[matrix], result);
  }
}

bool decodeLoadMatrix(Decoder &decoder, const Instruction &source, Modifiers &modifiers,
                      Inst &inst) {
  bool known = modifiers.take("sync") && modifiers.take("aligned") && modifiers.take("m8n8");
  int count = modifiers.takeOneOf({"x1", "x2", "x4"});
  inst.flags = modifiers.take("trans");
  bool shared = modifiers.takeOneOf({"shared", "shared::cta"}) >= 0;
  Space space = shared ? Space::Shared : Space::Generic;
  if (!known || count < 0 || !modifiers.take("b16") ||
      !decoder.address(source.operands[1], space, inst))
    return false;
  inst.run = loadMatrix;
  inst.count = 1 << count;
  inst.c = uint32_t(space);
  const Operand &result = source.operands[0];
  std::vector<uint32_t> places;
  if (result.kind == Operand::Kind::Vector)
    for (const Operand &element : result.elements)
      places.push_back(decoder.target(element, Type::B32));
  else
    places.push_back(decoder.target(result, Type::B32));
  inst.list = decoder.addList(places);
  return places.size() == inst.count;
}

struct FromHalf {
  static float of(uint16_t bits) { return fromHalf(bits); }
};
struct FromBfloat {
  static float of(uint16_t bits) { return fromBfloat(bits); }
};

/// Gathers the operands of m16n8kK with values of 16 bits from the lanes: A by rows, B by columns.
template <typename From, unsigned K>
void gather16(Warp &warp, const uint32_t *places, float (&a)[16][16], float (&b)[16][8]) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned group = lane / 4, pair = lane % 4 * 2;
    for (unsigned reg = 0; reg < K / 4; ++reg)
      for (unsigned half = 0; half < 2; ++half) {
        uint32_t word = warp.at<uint32_t>(places[reg])[lane];
        a[group + reg % 2 * 8][pair + half + reg / 2 * 8] = From::of(word >> 16 * half);
      }
    for (unsigned reg = 0; reg < K / 8; ++reg)
      for (unsigned half = 0; half < 2; ++half) {
        uint32_t word = warp.at<uint32_t>(places[K / 4 + reg])[lane];
        b[pair + half + reg * 8][group] = From::of(word >> 16 * half);
      }
  }
}

float fromTf32(uint32_t bits) { return bitCast<float>(bits & ~0x1fffu); }

/// Gathers operands with values of tf32: K is 4 or 8.
template <unsigned K>
void gather32(Warp &warp, const uint32_t *places, float (&a)[16][16], float (&b)[16][8]) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned group = lane / 4, column = lane % 4;
    for (unsigned reg = 0; reg < K / 2; ++reg)
      a[group + reg % 2 * 8][column + reg / 2 * 4] = fromTf32(warp.at<uint32_t>(places[reg])[lane]);
    for (unsigned reg = 0; reg < K / 4; ++reg)
      b[column + reg * 4][group] = fromTf32(warp.at<uint32_t>(places[K / 2 + reg])[lane]);
  }
}

/// Computes D = A · B + C in f32, from the lowest index on. In the list, the registers of C and D
/// follow those of A and B.
template <unsigned K>
void accumulate(Warp &warp, const uint32_t *rest, const float (&a)[16][16],
                const float (&b)[16][8]) {
  float sums[16][8];
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned reg = 0; reg < 4; ++reg)
      sums[lane / 4 + reg / 2 * 8][lane % 4 * 2 + reg % 2] = warp.at<float>(rest[reg])[lane];
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned k = 0; k < K; ++k)
      for (unsigned column = 0; column < 8; ++column)
        sums[row][column] += a[row][k] * b[k][column];
  for (unsigned reg = 0; reg < 4; ++reg) {
    float result[lanes];
    for (unsigned lane = 0; lane < lanes; ++lane)
      result[lane] = canonical(sums[lane / 4 + reg / 2 * 8][lane % 4 * 2 + reg % 2]);
    warp.store<float>(rest[4 + reg], result);
  }
}

template <typename From, unsigned K> void multiply16(Warp &warp, const Inst &inst) {
  if (!warp.haveLanes(warp.live))
    return;
  if (warp.live != allLanes)
    return warp.fail(Fault::Divergence, 0, "mma without all lanes of the warp");
  const uint32_t *places = &warp.program->lists[inst.list];
  float a[16][16], b[16][8];
  gather16<From, K>(warp, places, a, b);
  accumulate<K>(warp, places + K / 4 + K / 8, a, b);
}

template <unsigned K> void multiply32(Warp &warp, const Inst &inst) {
  if (!warp.haveLanes(warp.live))
    return;
  if (warp.live != allLanes)
    return warp.fail(Fault::Divergence, 0, "mma without all lanes of the warp");
  const uint32_t *places = &warp.program->lists[inst.list];
  float a[16][16], b[16][8];
  gather32<K>(warp, places, a, b);
  accumulate<K>(warp, places + K / 2 + K / 4, a, b);
}

/// Adds the registers of a fragment, which may be a single register.
void addFragment(Decoder &decoder, const Operand &operand, Type type, bool writes,
                 std::vector<uint32_t> &places) {
  std::vector<Operand> elements = operand.elements;
  if (operand.kind != Operand::Kind::Vector)
    elements = {operand};
  for (const Operand &element : elements)
    places.push_back(writes ? decoder.target(element, type) : decoder.source(element, type));
}

bool decodeMultiply(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  bool known = modifiers.take("sync") && modifiers.take("aligned");
  int shape = modifiers.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16"});
  known = known && modifiers.take("row") && modifiers.take("col");
  Type d = modifiers.takeType(), a = modifiers.takeType(), b = modifiers.takeType(),
       c = modifiers.takeType();
  if (!known || shape < 0 || d != Type::F32 || c != Type::F32 || a != b)
    return false;
  bool wide = a == Type::TF32;
  unsigned k = 4u << shape;
  if (a == Type::F16 && k >= 8)
    inst.run = k == 16 ? multiply16<FromHalf, 16> : multiply16<FromHalf, 8>;
  else if (a == Type::BF16 && k >= 8)
    inst.run = k == 16 ? multiply16<FromBfloat, 16> : multiply16<FromBfloat, 8>;
  else if (a == Type::TF32 && k <= 8)
    inst.run = k == 8 ? multiply32<8> : multiply32<4>;
  std::vector<uint32_t> places;
  addFragment(decoder, source.operands[1], Type::B32, false, places);
  addFragment(decoder, source.operands[2], Type::B32, false, places);
  addFragment(decoder, source.operands[3], Type::F32, false, places);
  addFragment(decoder, source.operands[0], Type::F32, true, places);
  inst.list = decoder.addList(places);
  return inst.run && places.size() == (wide ? k / 2 + k / 4 : k / 4 + k / 8) + 8;
}

} // namespace

const Opcodes &reprise::emulator::tensorOpcodes() {
  static const Opcodes opcodes = {{"ldmatrix", decodeLoadMatrix, 2}, {"mma", decodeMultiply, 4}};
  return opcodes;
}
