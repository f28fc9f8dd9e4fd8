// reprise: arithmetic that no single instruction computes, emitted as arith, math.fma, math.sqrt
// and math.floor; the sines also use scf and vector, for large angles.
//
// A value is a scalar or a vector of one dimension. Each function returns, lane by lane and to the
// bit, the result of the function with the same name in reprise/Reference/Elementary.h or Numbers.h
// (NaN payloads apart), for every width and target. No constant is folded by the host's libm, and
// only math.fma fuses.

#ifndef REPRISE_CONVERSION_ELEMENTARY_H
#define REPRISE_CONVERSION_ELEMENTARY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

// Functions of f32 or f64. Accuracy and special values: reprise/Reference/Elementary.h.
mlir::Value emitExp(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitLog(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitTanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitErf(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitSigmoid(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitSqrt(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitRsqrt(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitSin(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitCos(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitPow(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);

/// Emits the IEEE maximum and minimum of f32 or f64: a NaN wins, and -0 is less than +0.
mlir::Value emitMaximum(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value emitMinimum(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);

/// Emits the signed division of i32 or i64 towards zero, defined for all operands: x/0 is -1, x % 0
/// is x, the least integer over -1 is itself with remainder 0.
mlir::Value emitDivide(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);
mlir::Value emitRemainder(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);

/// Emits a conversion between any two of f32, f64, bf16, f16, i32, i64 and i1. To a float: one
/// rounding to nearest even, and NaN becomes the quiet NaN without payload in 16 bits. Float to
/// integer: towards zero, saturating, NaN gives 0. To i1: x != 0, true for NaN. From i1: 0 or 1.
/// Between integers: sign extension, or the low bits.
mlir::Value emitCast(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Type elementType);

/// Emits the rounding of the f32 `x` to the precision of `elementType` (bf16 or f16), still as f32:
/// emitCast there and back, in fewer operations. Returns x for any other type.
mlir::Value emitRoundTo(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Type elementType);

} // namespace reprise

#endif // REPRISE_CONVERSION_ELEMENTARY_H
