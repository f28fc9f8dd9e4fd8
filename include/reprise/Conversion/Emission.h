// reprise: the arithmetic of single ops, on scalars and vectors
#ifndef REPRISE_CONVERSION_EMISSION_H
#define REPRISE_CONVERSION_EMISSION_H

#include "reprise/Conversion/Random.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Attaches EmissionOpInterface to the elementwise ops of the dialect.
void registerEmission(mlir::DialectRegistry &registry);

/// Position of a draw in the random words.
struct DrawPosition {
  /// Scalars of i64: seed, stream, and the position (offset + global index) of lane 0.
  mlir::Value seed, stream, first;
  int64_t width = 1;
  /// Distance in positions from one lane to the next.
  int64_t step = 1;
  /// Tells whether `first` is a multiple of 4 whenever the code runs.
  bool aligned = false;
  WordWidth words = WordWidth::Wide;
};

/// Emits one element, or a vector of `position.width` elements, of a random op after the random
/// phase. `operand` is the tensor operand's element (dropout), otherwise null. Like emitElement,
/// computes 16-bit floats in f32, and the caller rounds.
mlir::Value emitDraw(mlir::ImplicitLocOpBuilder &b, RandomOpInterface op,
                     const DrawPosition &position, mlir::Value operand);

/// Emits one step of a reduction on values of the compute type, and its initial value: +0, -inf or
/// +inf, or the limit of an integer type. `type` may be a vector.
mlir::Value emitCombine(mlir::ImplicitLocOpBuilder &b, ReductionKind kind, mlir::Value x,
                        mlir::Value y);
mlir::Value emitIdentity(mlir::ImplicitLocOpBuilder &b, ReductionKind kind, mlir::Type type);

} // namespace reprise

#endif // REPRISE_CONVERSION_EMISSION_H
