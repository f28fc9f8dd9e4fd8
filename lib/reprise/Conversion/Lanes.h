// reprise: short names for the operations on floats and their bits, for scalars and vectors alike.
#ifndef REPRISE_CONVERSION_LANES_H
#define REPRISE_CONVERSION_LANES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// The type `elementType` in the shape of `like`.
mlir::Type shapedAs(mlir::Type like, mlir::Type elementType);

/// `value` in every lane of a float or integer type. Floats are rounded to the type.
mlir::Value floatLanes(mlir::ImplicitLocOpBuilder &b, mlir::Type type, double value);
mlir::Value integerLanes(mlir::ImplicitLocOpBuilder &b, mlir::Type type, int64_t value);

/// Returns all bits from `first` on.
inline int64_t upperBits(int first) { return static_cast<int64_t>(~uint64_t(0) << first); }

/// Format of f32 or f64.
struct FloatFormat {
  bool isDouble;
  int bitWidth() const { return isDouble ? 64 : 32; }
  int mantissaBits() const { return isDouble ? 52 : 23; }
  int bias() const { return isDouble ? 1023 : 127; }
  int64_t signBit() const { return upperBits(bitWidth() - 1); }
  /// Returns the number whose addition rounds a small number to an integer in the low bits.
  double integerShift() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }
};

/// Operations on values of one float type (f32 or f64) and shape, and on integers of the same width
/// and shape.
class Lanes {
public:
  using Value = mlir::Value;

  Lanes(mlir::ImplicitLocOpBuilder &builder, mlir::Type floatType);
  Lanes(mlir::ImplicitLocOpBuilder &builder, Value like) : Lanes(builder, like.getType()) {}

  mlir::ImplicitLocOpBuilder &b;
  mlir::Type floats;
  mlir::Type integers;
  FloatFormat format;

  Value f(double value) { return floatLanes(b, floats, value); }
  Value i(int64_t value) { return integerLanes(b, integers, value); }

  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, x, y, z); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, x, y); }
  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, x, y); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, x); }
  /// Ordered comparisons: false if either is NaN.
  Value less(Value x, Value y) { return compare(mlir::arith::CmpFPredicate::OLT, x, y); }
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, predicate, x, y);
  }
  Value compare(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, condition, x, y);
  }
  /// Returns x < y ? x : y, which is y if either is NaN; one instruction.
  Value lesser(Value x, Value y) { return select(less(x, y), x, y); }
  /// Returns y < x ? x : y
  Value greater(Value x, Value y) { return select(less(y, x), x, y); }

  Value toBits(Value x) { return mlir::arith::BitcastOp::create(b, integers, x); }
  Value fromBits(Value x) { return mlir::arith::BitcastOp::create(b, floats, x); }
  Value addBits(Value x, Value y) { return mlir::arith::AddIOp::create(b, x, y); }
  Value subBits(Value x, Value y) { return mlir::arith::SubIOp::create(b, x, y); }
  Value andBits(Value x, Value y) { return mlir::arith::AndIOp::create(b, x, y); }
  Value orBits(Value x, Value y) { return mlir::arith::OrIOp::create(b, x, y); }
  Value xorBits(Value x, Value y) { return mlir::arith::XOrIOp::create(b, x, y); }
  Value shiftLeft(Value x, int n) { return mlir::arith::ShLIOp::create(b, x, i(n)); }
  Value shiftRight(Value x, int n) { return mlir::arith::ShRUIOp::create(b, x, i(n)); }

  /// (((c[0]·x + c[1])·x + c[2])·x + …): each step one fma.
  template <size_t N32, size_t N64>
  Value horner(const double (&f32)[N32], const double (&f64)[N64], Value x) {
    return format.isDouble ? hornerOf(f64, x) : hornerOf(f32, x);
  }
  Value hornerOf(llvm::ArrayRef<double> coefficients, Value x);
};

mlir::Value emitAbsolute(Lanes &l, mlir::Value x);

/// Returns `magnitude`, which has no sign, with the sign of x.
mlir::Value emitWithSignOf(Lanes &l, mlir::Value magnitude, mlir::Value x);

/// Returns the log of a positive normal number times 2^-shift (null: 0), without the special cases.
mlir::Value emitLogOfNormal(Lanes &l, mlir::Value x, mlir::Value shift = nullptr);

/// Returns sin(2πu) and cos(2πu) of f32 u, a multiple of 2^-24 in [0, 1].
std::pair<mlir::Value, mlir::Value> emitSinCosOfTurn(Lanes &l, mlir::Value u);

} // namespace reprise

#endif // REPRISE_CONVERSION_LANES_H
