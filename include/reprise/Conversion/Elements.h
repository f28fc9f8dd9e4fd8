// reprise: emits accesses to elements of tensors in memory, and their values in registers
//
// In memory an element of i1 is one byte, 0 or 1, and every other type is itself. In registers a
// value is a scalar (width 1) or a vector of one dimension.
#ifndef REPRISE_CONVERSION_ELEMENTS_H
#define REPRISE_CONVERSION_ELEMENTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace reprise {

/// Returns the bytes of an element in memory.
int64_t bytesOf(mlir::Type elementType);

/// Returns `elementType` itself for width 1, otherwise a vector of it.
mlir::Type typeOfLanes(mlir::Type elementType, int64_t width);

/// Emits a number of a float or integer type, or a vector with the number in every lane.
mlir::Value emitConstant(mlir::ImplicitLocOpBuilder &b, mlir::Type type, double value);

/// Emits a vector whose lanes all equal a scalar; returns the scalar itself for width 1.
mlir::Value emitSplat(mlir::ImplicitLocOpBuilder &b, mlir::Value scalar, int64_t width);

/// Emits the address of element `index` (i64).
mlir::Value emitAddress(mlir::ImplicitLocOpBuilder &b, mlir::Type elementType, mlir::Value base,
                        mlir::Value index);

/// Loads `width` elements from element `index` on; 16-bit floats keep their type. The address is
/// known to be a multiple of `aligned` elements.
mlir::Value emitLoad(mlir::ImplicitLocOpBuilder &b, mlir::Type elementType, mlir::Value base,
                     mlir::Value index, int64_t width = 1, int64_t aligned = 1);

/// Stores a value of `elementType`, or a vector of it. The address is known to be a multiple of
/// `aligned` elements.
void emitStore(mlir::ImplicitLocOpBuilder &b, mlir::Type elementType, mlir::Value value,
               mlir::Value base, mlir::Value index, int64_t aligned = 1);

/// Loads as `emitLoad` does, and widens 16-bit floats exactly to f32.
mlir::Value emitLoadWide(mlir::ImplicitLocOpBuilder &b, mlir::Type elementType, mlir::Value base,
                         mlir::Value index, int64_t width = 1, int64_t aligned = 1);

/// Rounds f32 to a 16-bit `elementType` (to nearest even), and stores as `emitStore` does.
void emitStoreRounded(mlir::ImplicitLocOpBuilder &b, mlir::Type elementType, mlir::Value value,
                      mlir::Value base, mlir::Value index, int64_t aligned = 1);

} // namespace reprise

#endif // REPRISE_CONVERSION_ELEMENTS_H
