// reprise: emission of Philox words and of the distributions.
//
// On a CPU a 32-bit word lives in a 64-bit lane, with arbitrary bits in the upper half if they do
// not matter. A product of two such lanes is one vpmuludq, but mul_extended on 32-bit lanes becomes
// shuffles (docs/explanation/Random.md). On a GPU a word is a register of 32 bits.

#include "reprise/Conversion/Random.h"
#include "Lanes.h"
#include "common/Philox.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "reprise/Conversion/Elementary.h"

using namespace mlir;

namespace reprise {
namespace {

Value emitTruncate(ImplicitLocOpBuilder &b, Value x) {
  Type type = shapedAs(x.getType(), b.getI32Type());
  return x.getType() == type ? x : arith::TruncIOp::create(b, type, x).getResult();
}

/// Operations on words, scalars or vectors; a scalar meets a vector in every lane.
struct Words {
  ImplicitLocOpBuilder &b;
  WordWidth width;
  /// Type of a word of every lane.
  Type type;

  Words(ImplicitLocOpBuilder &b, WordWidth width, Type like)
      : b(b), width(width),
        type(shapedAs(like, width == WordWidth::Narrow ? b.getI32Type() : b.getI64Type())) {}

  Value constant(int64_t value, Type of) { return integerLanes(b, of, value); }
  Value low(Value x) { return arith::AndIOp::create(b, x, constant(0xffffffff, x.getType())); }
  Value high(Value x) { return arith::ShRUIOp::create(b, x, constant(32, x.getType())); }
  Value times(Value x, uint32_t factor) {
    return arith::MulIOp::create(b, low(x), constant(factor, x.getType()));
  }
  /// The two words of an i64.
  std::pair<Value, Value> split(Value x) {
    if (width == WordWidth::Wide)
      return {x, high(x)};
    return {emitTruncate(b, x), emitTruncate(b, high(x))};
  }
  /// The two words of a product.
  std::pair<Value, Value> product(Value x, uint32_t factor) {
    if (width == WordWidth::Wide)
      return split(times(x, factor));
    auto both = arith::MulUIExtendedOp::create(b, x, constant(factor, x.getType()));
    return {both.getLow(), both.getHigh()};
  }
  Value everywhere(Value x) {
    return x.getType() == type ? x : vector::BroadcastOp::create(b, type, x).getResult();
  }
  Value exclusiveOr(Value x, Value y) {
    if (x.getType() != y.getType())
      x = everywhere(x), y = everywhere(y);
    return arith::XOrIOp::create(b, x, y);
  }
  /// Returns two words in one lane.
  Value join(Value lowWord, Value highWord) {
    Value shifted = arith::ShLIOp::create(b, highWord, constant(32, type));
    return arith::OrIOp::create(b, low(lowWord), shifted);
  }
};

/// Returns the four words of each block, in the shape of `blocks`; the upper halves of wide words
/// are arbitrary. Values that are equal in all lanes, such as the first product with the stream,
/// are computed on scalars.
std::array<Value, 4> emitBlocks(ImplicitLocOpBuilder &b, WordWidth width, Value seed, Value stream,
                                Value blocks) {
  Words w(b, width, blocks.getType());
  auto [block0, block1] = w.split(blocks);
  auto [stream0, stream1] = w.split(stream);
  auto [key0, key1] = w.split(seed);
  std::array<Value, 4> c = {block0, block1, stream0, stream1};
  for (int round = 0; round < philoxRounds; ++round) {
    auto [low0, high0] = w.product(c[0], philoxMultiplier0);
    auto [low1, high1] = w.product(c[2], philoxMultiplier1);
    c = {w.exclusiveOr(w.exclusiveOr(high1, key0), c[1]), low1,
         w.exclusiveOr(high0, w.exclusiveOr(c[3], key1)), low0};
    key0 = arith::AddIOp::create(b, key0, w.constant(philoxWeyl0, key0.getType()));
    key1 = arith::AddIOp::create(b, key1, w.constant(philoxWeyl1, key1.getType()));
  }
  return c;
}

Value emitIsOdd(ImplicitLocOpBuilder &b, Value x, int64_t bit) {
  Value masked = arith::AndIOp::create(b, x, integerLanes(b, x.getType(), bit));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked,
                               integerLanes(b, x.getType(), 0));
}

/// Words 2k and 2k+1 of the pair that each position belongs to.
std::pair<Value, Value> emitPairsAt(ImplicitLocOpBuilder &b, WordWidth width, Value seed,
                                    Value stream, Value positions) {
  Value two = integerLanes(b, positions.getType(), 2);
  std::array<Value, 4> c =
      emitBlocks(b, width, seed, stream, arith::ShRUIOp::create(b, positions, two));
  Value second = emitIsOdd(b, positions, 2);
  return {arith::SelectOp::create(b, second, c[2], c[0]),
          arith::SelectOp::create(b, second, c[3], c[1])};
}

/// Returns the words of blocks, given as four vectors, in order.
Value emitInOrder(ImplicitLocOpBuilder &b, std::array<Value, 4> c) {
  const int64_t count = cast<VectorType>(c[0].getType()).getNumElements();
  SmallVector<int64_t> pairs, quads;
  for (int64_t i = 0; i < count; ++i) {
    pairs.append({i, count + i});
    quads.append({2 * i, 2 * i + 1, 2 * (count + i), 2 * (count + i) + 1});
  }
  return vector::ShuffleOp::create(b, vector::ShuffleOp::create(b, c[0], c[1], pairs),
                                   vector::ShuffleOp::create(b, c[2], c[3], pairs), quads);
}

/// Returns an i32 below 2^31, shifted right, as a float.
Value emitHighBits(Lanes &l, Value words, int shift) {
  Value shifted = arith::ShRUIOp::create(l.b, words, integerLanes(l.b, words.getType(), shift));
  return arith::SIToFPOp::create(l.b, l.floats, shifted);
}

Value emitAffine(Lanes &l, Value unit, double scale, double shift) {
  return l.add(l.f(shift), l.mul(l.f(scale), unit));
}

/// Box and Muller: r·cos(2πu2) and r·sin(2πu2) of two i32 words.
std::pair<Value, Value> emitBoxMuller(Lanes &l, Value first, Value second) {
  Value eight = integerLanes(l.b, first.getType(), 8);
  Value one = integerLanes(l.b, first.getType(), 1);
  Value count = arith::AddIOp::create(l.b, arith::ShRUIOp::create(l.b, first, eight), one);
  Value u1 = l.mul(arith::SIToFPOp::create(l.b, l.floats, count), l.f(0x1p-24));
  Value u2 = l.mul(emitHighBits(l, second, 8), l.f(0x1p-24));
  // The logarithm has no special cases here, because u1 is normal and positive.
  Value radius = emitSqrt(l.b, l.mul(l.f(-2), emitLogOfNormal(l, u1)));
  auto [sine, cosine] = emitSinCosOfTurn(l, u2);
  return {l.mul(radius, cosine), l.mul(radius, sine)};
}

} // namespace

Value emitPhiloxWords(ImplicitLocOpBuilder &b, Value seed, Value stream, Value position,
                      int64_t lanes, WordWidth width) {
  assert(lanes % 4 == 0 && "a block has four words");
  const int64_t count = lanes / 4;
  auto type = VectorType::get(count, b.getI64Type());
  Value block = arith::ShRUIOp::create(b, position, integerLanes(b, position.getType(), 2));
  Value blocks = vector::BroadcastOp::create(b, type, block);
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(count));
  Value steps =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
  blocks = arith::AddIOp::create(b, blocks, steps);
  std::array<Value, 4> c = emitBlocks(b, width, seed, stream, blocks);
  if (width == WordWidth::Narrow)
    return emitInOrder(b, c);
  Words w(b, width, type);
  SmallVector<int64_t> order;
  for (int64_t i : numbers)
    order.append({i, count + i});
  Value joined = vector::ShuffleOp::create(b, w.join(c[0], c[1]), w.join(c[2], c[3]), order);
  return vector::BitCastOp::create(b, VectorType::get(lanes, b.getI32Type()), joined);
}

std::array<Value, 4> emitPhiloxBlocks(ImplicitLocOpBuilder &b, Value seed, Value stream,
                                      Value blocks) {
  std::array<Value, 4> words = emitBlocks(b, WordWidth::Wide, seed, stream, blocks);
  for (Value &word : words)
    word = emitTruncate(b, word);
  return words;
}

Value emitPhiloxWordsAt(ImplicitLocOpBuilder &b, Value seed, Value stream, Value positions,
                        WordWidth width) {
  auto [even, odd] = emitPairsAt(b, width, seed, stream, positions);
  return emitTruncate(b, arith::SelectOp::create(b, emitIsOdd(b, positions, 1), odd, even));
}

Value emitUniform(ImplicitLocOpBuilder &b, Value words, Type elementType, double low, double high) {
  Lanes l(b, shapedAs(words.getType(), elementType.isF64() ? elementType : b.getF32Type()));
  Value unit;
  if (elementType.isF64())
    unit = l.mul(arith::UIToFPOp::create(b, l.floats, words), l.f(0x1p-32));
  else if (elementType.isF16())
    unit = l.mul(emitHighBits(l, words, 21), l.f(0x1p-11));
  else if (elementType.isBF16())
    unit = l.mul(emitHighBits(l, words, 24), l.f(0x1p-8));
  else
    unit = l.mul(emitHighBits(l, words, 8), l.f(0x1p-24));
  return emitAffine(l, unit, high - low, low);
}

Value emitUniformInt(ImplicitLocOpBuilder &b, Value words, Type elementType, int64_t low,
                     int64_t high) {
  Type wide = shapedAs(words.getType(), b.getI64Type());
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  Value product = arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, words),
                                        integerLanes(b, wide, static_cast<int64_t>(span)));
  Value value = arith::ShRUIOp::create(b, product, integerLanes(b, wide, 32));
  value = arith::AddIOp::create(b, value, integerLanes(b, wide, low));
  return emitCast(b, value, elementType);
}

Value emitNormal(ImplicitLocOpBuilder &b, Value words, double mean, double std) {
  const int64_t lanes = cast<VectorType>(words.getType()).getNumElements();
  SmallVector<int64_t> even, odd, interleaved;
  for (int64_t i = 0; i < lanes / 2; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
    interleaved.append({i, lanes / 2 + i});
  }
  Lanes half(b, VectorType::get(lanes / 2, b.getF32Type()));
  auto [first, second] = emitBoxMuller(half, vector::ShuffleOp::create(b, words, words, even),
                                       vector::ShuffleOp::create(b, words, words, odd));
  Value z = vector::ShuffleOp::create(b, first, second, interleaved);
  Lanes l(b, z);
  return emitAffine(l, z, std, mean);
}

Value emitNormalAt(ImplicitLocOpBuilder &b, Value seed, Value stream, Value positions, double mean,
                   double std, WordWidth width) {
  auto [even, odd] = emitPairsAt(b, width, seed, stream, positions);
  Lanes l(b, shapedAs(positions.getType(), b.getF32Type()));
  auto [cosine, sine] = emitBoxMuller(l, emitTruncate(b, even), emitTruncate(b, odd));
  Value z = l.select(emitIsOdd(b, positions, 1), sine, cosine);
  return emitAffine(l, z, std, mean);
}

Value emitBernoulli(ImplicitLocOpBuilder &b, Value words, double probability) {
  const uint64_t threshold = static_cast<uint64_t>(probability * 0x1p32);
  // Every word is below the threshold 2^32, which an i32 cannot hold.
  if (threshold > UINT32_MAX)
    return integerLanes(b, shapedAs(words.getType(), b.getI1Type()), 1);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, words,
                               integerLanes(b, words.getType(), static_cast<int64_t>(threshold)));
}

Value emitDropout(ImplicitLocOpBuilder &b, Value words, Value x, double rate) {
  Lanes l(b, x);
  Value kept = l.mul(x, l.f(1 / (1 - rate)));
  return l.select(emitBernoulli(b, words, rate), l.f(0), kept);
}

} // namespace reprise
