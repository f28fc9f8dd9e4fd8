// reprise: emission of sine and cosine.
//
// The steps are those of lib/reprise/Reference/{Elementary,Angle}.cpp, which explain them. Angles
// beyond the range of the fast reduction are rare: lanes with such an angle are reduced one by one,
// in whole numbers, in a branch that is skipped if there are none.

#include "Lanes.h"
#include "Polynomials.h"
#include "reprise/Conversion/Elementary.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace reprise::emission;

namespace reprise {
namespace {

/// Reduced angle x - turn·pi/2, and the turn in the low bits of an integer.
struct Reduced {
  Value angle, turn;
};

//===-- Large angles --------------------------------------------------------------------------===//

/// Reduction of large angles on scalars of f64 and i64: words are 32 bits, below 2^32.
class LargeAngle {
public:
  explicit LargeAngle(ImplicitLocOpBuilder &b) : l(b, b.getF64Type()) {}
  Reduced reduce(Value x);

private:
  /// 192 bits of 2/pi from bit `first` on, the least significant word first.
  SmallVector<Value> bitsOfTwoOverPi(Value first);
  void addProduct(SmallVector<Value> &sum, ArrayRef<Value> a, Value factor, size_t places);
  Value low(Value x) { return l.andBits(x, l.i(0xffffffff)); }
  Value toFloat(Value x) { return arith::SIToFPOp::create(l.b, l.floats, x); }

  Lanes l;
};

SmallVector<Value> LargeAngle::bitsOfTwoOverPi(Value first) {
  // Words first/32 … first/32 + 6, picked bit by bit of that number.
  SmallVector<Value> words;
  for (uint32_t word : twoOverPiBits)
    words.push_back(l.i(word));
  Value number = l.shiftRight(first, 5);
  for (size_t distance = 32; distance >= 1; distance /= 2) {
    Value bit = l.andBits(number, l.i(static_cast<int64_t>(distance)));
    Value moves = l.compare(arith::CmpIPredicate::ne, bit, l.i(0));
    // We keep only words that later steps and the result can read.
    size_t needed = std::min(words.size(), distance + 6);
    for (size_t i = 0; i < needed && i + distance < words.size(); ++i)
      words[i] = l.select(moves, words[i + distance], words[i]);
    words.resize(needed);
  }
  Value shift = l.andBits(first, l.i(31));
  SmallVector<Value> window;
  for (int i = 5; i >= 0; --i) {
    Value pair = l.orBits(l.shiftLeft(words[i], 32), words[i + 1]);
    window.push_back(l.shiftRight(arith::ShLIOp::create(l.b, pair, shift), 32));
  }
  return window;
}

void LargeAngle::addProduct(SmallVector<Value> &sum, ArrayRef<Value> a, Value factor,
                            size_t places) {
  Value carry = l.i(0);
  for (size_t i = places; i < sum.size(); ++i) {
    Value product = arith::MulIOp::create(l.b, factor, a[i - places]);
    carry = l.addBits(carry, l.addBits(sum[i], product));
    sum[i] = low(carry);
    carry = l.shiftRight(carry, 32);
  }
}

Reduced LargeAngle::reduce(Value x) {
  Value bits = l.toBits(x);
  Value mantissa = l.orBits(l.andBits(bits, l.i(0xfffffffffffff)), l.i(0x10000000000000));
  Value exponent = l.andBits(l.shiftRight(bits, 52), l.i(0x7ff));
  SmallVector<Value> window = bitsOfTwoOverPi(l.subBits(exponent, l.i(1075 - 62)));
  SmallVector<Value> quarters(6, l.i(0));
  addProduct(quarters, window, low(mantissa), 0);
  addProduct(quarters, window, l.shiftRight(mantissa, 32), 1);
  Value turn = l.shiftRight(l.addBits(quarters[5], l.i(0x20000000)), 30);
  Value high =
      toFloat(arith::ShRSIOp::create(l.b, l.shiftLeft(quarters[5], 34), l.i(34)).getResult());
  Value scale = l.f(0x1p-32);
  Value lower = l.add(toFloat(quarters[3]), l.mul(toFloat(quarters[2]), scale));
  lower = l.mul(l.add(toFloat(quarters[4]), l.mul(lower, scale)), scale);
  Value rest = l.add(high, lower), lost = l.sub(lower, l.sub(rest, high));
  Value unit = l.f(0x1.921fb54442d18p-30), unitLow = l.f(0x1.1a62633145c07p-84);
  Value angle = l.fma(rest, unit, l.fma(rest, unitLow, l.mul(lost, unit)));
  Value negative = l.less(x, l.f(0));
  return {l.select(negative, l.neg(angle), angle),
          l.select(negative, l.subBits(l.i(4), turn), turn)};
}

/// Reduces a scalar of f32 or f64.
Reduced reduceLarge(ImplicitLocOpBuilder &b, Value x, Type turnType) {
  bool isDouble = x.getType().isF64();
  Value wide = isDouble ? x : arith::ExtFOp::create(b, b.getF64Type(), x).getResult();
  Reduced reduced = LargeAngle(b).reduce(wide);
  if (isDouble)
    return reduced;
  return {arith::TruncFOp::create(b, x.getType(), reduced.angle),
          arith::TruncIOp::create(b, turnType, reduced.turn)};
}

/// Replaces the wrong results in the lanes of large angles, if there are any.
Reduced fixLarge(Lanes &l, Value x, Value large, Reduced reduced) {
  auto type = dyn_cast<VectorType>(l.floats);
  Value any =
      type ? vector::ReductionOp::create(l.b, vector::CombiningKind::OR, large).getResult() : large;
  auto branch = scf::IfOp::create(l.b, TypeRange{l.floats, l.integers}, any, true);
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(l.b, ValueRange{reduced.angle, reduced.turn});
  l.b.setInsertionPointToStart(branch.thenBlock());
  Type turnType = getElementTypeOrSelf(l.integers);
  if (!type) {
    Reduced fixed = reduceLarge(l.b, x, turnType);
    scf::YieldOp::create(l.b, ValueRange{fixed.angle, fixed.turn});
    return {branch.getResult(0), branch.getResult(1)};
  }
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(l.b, value); };
  auto loop = scf::ForOp::create(l.b, index(0), index(type.getNumElements()), index(1),
                                 ValueRange{reduced.angle, reduced.turn});
  scf::YieldOp::create(l.b, loop.getResults());
  l.b.setInsertionPointToStart(loop.getBody());
  Value lane = loop.getInductionVar();
  Reduced fixed = reduceLarge(l.b, vector::ExtractOp::create(l.b, x, lane), turnType);
  scf::YieldOp::create(
      l.b, ValueRange{vector::InsertOp::create(l.b, fixed.angle, loop.getRegionIterArg(0), lane),
                      vector::InsertOp::create(l.b, fixed.turn, loop.getRegionIterArg(1), lane)});
  // Lanes without a large angle keep their results.
  l.b.setInsertionPointAfter(branch);
  return {l.select(large, branch.getResult(0), reduced.angle),
          l.select(large, branch.getResult(1), reduced.turn)};
}

//===-- All angles ----------------------------------------------------------------------------===//

Reduced reduceAngle(Lanes &l, Value x) {
  const double halfPi32[] = {0x1.921fb4p+0, 0x1.4442dp-24, 0x1.84698ap-48};
  const double halfPi64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c06p-54, 0x1.c1cd129024e09p-107};
  Value shift = l.f(l.format.integerShift());
  Value shifted = l.fma(x, l.f(0.63661977236758134308), shift);
  Value n = l.sub(shifted, shift);
  Value r = x;
  for (double part : l.format.isDouble ? halfPi64 : halfPi32)
    r = l.fma(n, l.f(-part), r);
  Value large = l.less(l.f(l.format.isDouble ? 0x1p40 : 0x1p17), emitAbsolute(l, x));
  return fixLarge(l, x, large, {r, l.toBits(shifted)});
}

/// Emits sin(x + quadrant·pi/2).
Value emitSineFromQuadrant(ImplicitLocOpBuilder &b, Value x, int quadrant) {
  Lanes l(b, x);
  auto [r, turn] = reduceAngle(l, x);
  Value s = l.mul(r, r);
  Value sine = l.fma(l.mul(l.horner(f32::sine, f64::sine, s), s), r, r);
  sine = emitWithSignOf(l, emitAbsolute(l, sine), r);
  Value cosine = l.fma(l.horner(f32::cosine, f64::cosine, s), s, l.f(-0.5));
  cosine = l.fma(cosine, s, l.f(1));
  if (quadrant)
    turn = l.addBits(turn, l.i(quadrant));
  Value odd = l.compare(arith::CmpIPredicate::ne, l.andBits(turn, l.i(1)), l.i(0));
  Value value = l.select(odd, cosine, sine);
  Value sign = l.andBits(l.shiftLeft(turn, l.format.bitWidth() - 2), l.i(l.format.signBit()));
  value = l.fromBits(l.xorBits(l.toBits(value), sign));
  const double most =
      l.format.isDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  Value finite = l.compare(arith::CmpFPredicate::OLE, emitAbsolute(l, x), l.f(most));
  return l.select(finite, value, l.f(std::numeric_limits<double>::quiet_NaN()));
}

} // namespace

Value emitSin(ImplicitLocOpBuilder &b, Value x) { return emitSineFromQuadrant(b, x, 0); }
Value emitCos(ImplicitLocOpBuilder &b, Value x) { return emitSineFromQuadrant(b, x, 1); }

std::pair<Value, Value> emitSinCosOfTurn(Lanes &l, Value u) {
  Value quarters = l.mul(u, l.f(4));
  Value shift = l.f(l.format.integerShift());
  Value shifted = l.add(quarters, shift);
  Value y = l.sub(quarters, l.sub(shifted, shift));
  Value s = l.mul(y, y);
  Value sine = l.fma(y, l.f(0x1.921fb6p+0), l.mul(l.hornerOf(f32::sineOfTurn, s), y));
  Value cosine = l.hornerOf(f32::cosineOfTurn, s);
  Value turn = l.toBits(shifted);
  Value odd = l.compare(arith::CmpIPredicate::ne, l.andBits(turn, l.i(1)), l.i(0));
  auto flip = [&](Value magnitude, Value quadrant) {
    Value sign = l.andBits(l.shiftLeft(quadrant, l.format.bitWidth() - 2), l.i(l.format.signBit()));
    return l.fromBits(l.xorBits(l.toBits(magnitude), sign));
  };
  Value sineValue = flip(l.select(odd, cosine, sine), turn);
  Value cosineValue = flip(l.select(odd, sine, cosine), l.addBits(turn, l.i(1)));
  return {sineValue, cosineValue};
}

} // namespace reprise
