// reprise: the language of derivative rules.
#ifndef REPRISE_LIB_DIALECT_REPRISE_DERIVATIVES_PULLBACK_H
#define REPRISE_LIB_DIALECT_REPRISE_DERIVATIVES_PULLBACK_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

inline mlir::RankedTensorType tensorTypeOf(mlir::Value x) {
  return mlir::cast<mlir::RankedTensorType>(x.getType());
}

/// Application of a rule. Rules compute in the compute type (f32 for 16-bit floats): give() rounds
/// every cotangent once, and does not round for a 16-bit parameter. The caller erases unused ops,
/// so rules need not check whether every intermediate value is wanted.
class Pullback {
public:
  using Value = mlir::Value;

  Pullback(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange cotangents,
           llvm::ArrayRef<mlir::RankedTensorType> wanted, llvm::MutableArrayRef<Value> given)
      : b(b), cotangents(cotangents), wanted(wanted), given(given) {}

  mlir::ImplicitLocOpBuilder &b;

  /// Returns the type that the cotangent of operand `i` must have; null if none is needed.
  mlir::RankedTensorType getWanted(unsigned i) const { return wanted[i]; }
  bool wants(unsigned i) const { return static_cast<bool>(wanted[i]); }
  /// Returns true if operand `i` has 16 bits and asks for a cotangent in f32.
  bool wantsWide(unsigned i, Value operand) const;

  /// Returns the cotangent of result `i` in its own type; null if it is zero.
  Value getRaw(unsigned i = 0) const { return cotangents[i]; }
  /// Returns the cotangent of result `i` in the compute type; null if it is zero.
  Value get(unsigned i = 0) { return cotangents[i] ? widen(cotangents[i]) : Value(); }
  /// Sets the cotangent of operand `i`, converted to the wanted element type. Ignores null values
  /// and operands without a wanted cotangent.
  void give(unsigned i, Value cotangent);

  Value convert(Value x, mlir::Type elementType);
  Value widen(Value x) { return convert(x, getComputeType(tensorTypeOf(x).getElementType())); }

  Value add(Value x, Value y) { return AddOp::create(b, x, y); }
  Value sub(Value x, Value y) { return SubOp::create(b, x, y); }
  Value mul(Value x, Value y) { return MulOp::create(b, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, x, y); }
  Value neg(Value x) { return NegOp::create(b, x.getType(), x); }
  Value exp(Value x) { return ExpOp::create(b, x.getType(), x); }
  Value compare(ComparePredicate predicate, Value x, Value y) {
    return CompareOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return SelectOp::create(b, x.getType(), condition, x, y);
  }
  /// Returns the sum of two values, either of which may be null for zero.
  Value addIfBoth(Value x, Value y) { return x && y ? add(x, y) : x ? x : y; }

  /// `value` everywhere in `type`, floats or integers.
  Value splat(mlir::Type type, double value);
  /// A splat of the type of `x`.
  Value like(Value x, double value) { return splat(x.getType(), value); }
  Value scale(Value x, double factor) { return mul(x, like(x, factor)); }

  Value sum(Value x, llvm::ArrayRef<int64_t> dims) {
    return dims.empty() ? x : Value(SumOp::create(b, x, dims));
  }
  /// Dimension d of `x` becomes dimension `dims[d]` of `shape`.
  Value broadcast(Value x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
  /// Repeats a reduced `x` along the dimensions `reduced` of `shape`.
  Value spread(Value x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced);
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value x, llvm::ArrayRef<int64_t> permutation);

private:
  mlir::ValueRange cotangents;
  llvm::ArrayRef<mlir::RankedTensorType> wanted;
  llvm::MutableArrayRef<Value> given;
};

/// Returns true at the positions along `dim` of `shape` that equal `index`, which has the shape
/// without `dim`.
mlir::Value isAt(Pullback &p, mlir::Value index, llvm::ArrayRef<int64_t> shape, int64_t dim);

/// Builds the pullback of an op. Each op that has a derivative specializes it; for one that neither
/// does nor stands among those without (Pullback.cpp), nothing links.
template <typename OpT> void differentiate(OpT op, Pullback &p);

} // namespace reprise

#endif
