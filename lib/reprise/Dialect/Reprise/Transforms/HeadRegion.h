// reprise: the ops that can run in slices of rows of the widest contraction
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_HEADREGION_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_HEADREGION_H

#include "BatchStates.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace reprise {

/// Rows of a value: dimension `dim` has `rows` of them per unit of the cut.
struct UnitRows {
  int64_t dim, rows;
  bool operator==(const UnitRows &other) const { return dim == other.dim && rows == other.rows; }
};

/// The region of a cut: a contraction, the *leader*, with the readers of values of its size, and
/// what lies between them. A unit is one index of the leader's first dimension that is cut.
struct HeadRegion {
  llvm::SetVector<mlir::Operation *> ops; ///< in program order; the leader is the first
  /// Ops that depend on the region without being part of it, in program order.
  llvm::SetVector<mlir::Operation *> followers;
  llvm::DenseMap<mlir::Operation *, BatchCut> cuts; ///< one per op
  llvm::DenseMap<mlir::Value, UnitRows> rows;       ///< results with rows of units
  llvm::SmallVector<mlir::Operation *> sums;        ///< contractions, sums and means over the units
  int64_t units = 0;                                ///< units of the whole
  int64_t perSlice = 0;                             ///< units of a slice; the last may have fewer

  bool contains(mlir::Operation *op) const { return op && ops.contains(op); }
};

/// Passes that a region belongs to.
enum class HeadPart {
  Both,    ///< the forward pass of a slice, and its backward pass behind it
  Forward, ///< the forward pass alone
  Backward ///< the backward pass alone, which computes its leader again
};

/// Returns the contraction of the forward pass with the largest result; null if there is none.
DotGeneralOp findWidestContraction(ProgramOp step);

/// Finds the region of a contraction, in slices of `fewestRows` rows or more. Returns none if its
/// rows meet in more than sums, if no two slices have the bits of the whole, if something else
/// reads a wide value, or if the region is not of this part.
std::optional<HeadRegion> findHeadRegion(DotGeneralOp leader, HeadPart part, int64_t fewestRows);

/// Returns the terms that one result of a contraction, a sum or a mean has; with `part`, if that is
/// the type of its first operand.
int64_t countTerms(mlir::Operation *op, mlir::Type part = {});
/// Returns the terms of a sum that are added in order: partial sums of so many terms meet in the
/// tree of neighbours (docs/explanation/Bits.md).
int64_t countBlockTerms(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_HEADREGION_H
