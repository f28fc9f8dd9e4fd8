// reprise: what all targets know of the ops that no loop nest computes
#ifndef REPRISE_CONVERSION_LOOPNEST_ALONEOPS_H
#define REPRISE_CONVERSION_LOOPNEST_ALONEOPS_H

#include "reprise/Conversion/ControlFlow.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::nests {

/// The type that moves an element without a change of its bits.
mlir::Type bitsTypeOf(mlir::Type elementType);
/// A position that an i32 or i64 tensor holds, clamped to [0, size - 1].
mlir::Value loadPosition(KernelBuilder &k, mlir::Type indexType, mlir::Value buffer, mlir::Value at,
                         int64_t size);

/// A scatter: `batches` tables [rows, columns] and, for each, `updates` rows. It adds to a table of
/// zeros, or replaces rows of a table that is copied; the latter moves bits, as integers.
struct ScatterShape {
  explicit ScatterShape(mlir::Operation *op);

  bool replaces;
  mlir::Type type, compute, indexType;
  int64_t batches = 1, rows, columns, updates;

  // Among the buffers of the operands and the result, in order.
  unsigned indexBuffer() const { return replaces ? 1 : 0; }
  unsigned updateBuffer() const { return indexBuffer() + 1; }
  unsigned resultBuffer() const { return indexBuffer() + 2; }
};

/// A running sum: the tensor is [outer, n, inner]; sums run along n.
struct CumsumShape {
  explicit CumsumShape(CumsumOp op);

  mlir::Type type;
  int64_t outer = 1, n, inner = 1;
};

/// Rows of which the `count` largest elements are taken.
struct TopKShape {
  explicit TopKShape(TopKOp op);

  mlir::Type type, indexType;
  int64_t rows, n, count;

  /// An integer in the order of the elements, NaN first, zeros alike, of an element in the type of
  /// arithmetic.
  static mlir::Value emitKey(mlir::ImplicitLocOpBuilder &b, mlir::Value element);
  /// The type of keys, which is as wide as that of arithmetic.
  mlir::Type keyType() const;
};

/// A write of a window at a computed position. Buffers: the whole, the window, starts, the result.
struct WindowShape {
  explicit WindowShape(DynamicUpdateOp op);

  mlir::RankedTensorType whole, window;
  mlir::Type bits, startType;
  /// The last dimension along which the window may not be the whole: what follows lies together.
  int64_t lastCut = 0;
  /// Elements that lie together, and how often.
  int64_t run = 1, runs = 1;

  /// The first element of a run in the whole.
  mlir::Value placeOf(KernelBuilder &k, mlir::Value run) const;
};

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_ALONEOPS_H
