// reprise: a contraction (general dot product) as dimensions and strides, and its canonical order
//
// result[b, m, n] = sum over k of lhs[b, m, k] · rhs[b, n, k], where each index stands for a list
// of dimensions in row-major order. The sum is one chain of fma over k in order, from +0. With more
// than 4,096 terms, each block of 4,096 is one chain; results of blocks combine in the neighbour
// tree (2i, 2i+1), where an odd last element moves up. bf16 and f16 widen exactly to f32, f64
// stays, and the result is rounded once. Tiles, packing, strides and target do not change the
// result.
#ifndef REPRISE_CONVERSION_CONTRACTIONSPEC_H
#define REPRISE_CONVERSION_CONTRACTIONSPEC_H

#include "mlir/IR/Types.h"

namespace reprise {
class DotAccumulateOp;
class DotBiasOp;
class DotGeneralOp;

/// Number of terms in one chain of fma.
constexpr int64_t chainLength = 4096;

/// Dimension that only one operand has; the stride is in elements.
struct FreeDim {
  int64_t size, stride;
};
/// Dimension of both operands; strides are in elements.
struct SharedDim {
  int64_t size, lhsStride, rhsStride;
};

/// Contraction. Both operands have floats of the same arithmetic (f32, bf16 and f16 mix; f64 does
/// not). Strides are those of the stored operands, so that a transposition or a slice costs
/// nothing. Sizes are positive; only contracted sizes may be 0.
struct ContractionSpec {
  mlir::Type lhsType, rhsType, resultType;
  /// Offsets in elements of the first elements of the operands in their buffers.
  int64_t lhsOffset = 0, rhsOffset = 0;
  llvm::SmallVector<SharedDim> batch;
  llvm::SmallVector<FreeDim> rows;    // M, of lhs
  llvm::SmallVector<FreeDim> columns; // N, of rhs
  llvm::SmallVector<SharedDim> contracted;
  /// Number of matrices whose columns follow each other. The result is [columnGroups, batch, M, N /
  /// columnGroups]; epilogues see it as [batch, M, N].
  int64_t columnGroups = 1;
  /// Tells whether vector lanes run along M for all sizes, since stepping along the columns is
  /// expensive.
  bool lanesAlongRows = false;
  /// Tells whether sums continue those of a further buffer instead of +0. The last buffer holds
  /// such sums, row-major [batch, M, N] in the accumulator's type, and may be that of the result.
  bool continuesSums = false;
  /// Number of buffers after lhs and rhs that the epilogue uses: 1, the result, unless there is an
  /// epilogue.
  int64_t extraBuffers = 1;

  mlir::Type accumulatorType() const;

  /// Makes the spec of a dot_general whose operands have these strides.
  static ContractionSpec of(DotGeneralOp dot, llvm::ArrayRef<int64_t> lhsStrides,
                            llvm::ArrayRef<int64_t> rhsStrides);
  /// Makes the spec of a dot that continues sums.
  static ContractionSpec of(DotAccumulateOp dot, llvm::ArrayRef<int64_t> lhsStrides,
                            llvm::ArrayRef<int64_t> rhsStrides);
  /// Makes the spec of a dot with bias, without the bias.
  static ContractionSpec of(DotBiasOp dot, llvm::ArrayRef<int64_t> lhsStrides,
                            llvm::ArrayRef<int64_t> rhsStrides);
};

/// Strides of a contraction's result in its buffer, in elements per dimension.
struct ResultStrides {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> batch, rows, columns;

  /// Returns the strides of a row-major [batch, M, N].
  static ResultStrides rowMajor(const ContractionSpec &spec);
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CONTRACTIONSPEC_H
