// reprise: a contraction (general dot product) as dimensions and strides, and its canonical order
//
// result[b, m, n] = sum over k of lhs[b, m, k] · rhs[b, n, k], where each index stands for a list
// of dimensions in row-major order. The sum is one chain of fma over k in order, from +0; with more
// than 4,096 terms, one chain per block of 4,096, whose results meet in the neighbour tree (2i,
// 2i+1), an odd last one moves up. bf16 and f16 widen exactly to f32, f64 stays, and the result is
// rounded once. Tiles, packing, strides and target do not change the result.
#ifndef REPRISE_CONVERSION_CONTRACTIONSPEC_H
#define REPRISE_CONVERSION_CONTRACTIONSPEC_H

#include "mlir/IR/Types.h"

namespace reprise {
class DotBiasOp;
class DotGeneralOp;

/// Terms of one chain of fma.
constexpr int64_t chainLength = 4096;

/// A dimension that only one operand has; the stride is in elements.
struct FreeDim {
  int64_t size, stride;
};
/// A dimension of both operands.
struct SharedDim {
  int64_t size, lhsStride, rhsStride;
};

/// One contraction. Both operands have floats of the same arithmetic (f32, bf16 and f16 mix; f64
/// does not). Strides are those of the operands as stored, so a transposition or a slice costs
/// nothing. Sizes are positive, save that contracted ones may be 0.
struct ContractionSpec {
  mlir::Type lhsType, rhsType, resultType;
  /// The first elements of the operands in their buffers.
  int64_t lhsOffset = 0, rhsOffset = 0;
  llvm::SmallVector<SharedDim> batch;
  llvm::SmallVector<FreeDim> rows;    // M, of lhs
  llvm::SmallVector<FreeDim> columns; // N, of rhs
  llvm::SmallVector<SharedDim> contracted;
  /// The columns are those of this many matrices, one behind the other, and the result is
  /// [columnGroups, batch, M, N / columnGroups]: epilogues see that as [batch, M, N].
  int64_t columnGroups = 1;
  /// Vector lanes run along M for all sizes, since the columns are expensive to walk along.
  bool lanesAlongRows = false;
  /// Buffers after lhs and rhs that the epilogue uses: 1, the result, unless there is an epilogue.
  int64_t extraBuffers = 1;

  mlir::Type accumulatorType() const;

  /// Of operands that lie at such strides.
  static ContractionSpec of(DotGeneralOp dot, llvm::ArrayRef<int64_t> lhsStrides,
                            llvm::ArrayRef<int64_t> rhsStrides);
  /// The same without the bias.
  static ContractionSpec of(DotBiasOp dot, llvm::ArrayRef<int64_t> lhsStrides,
                            llvm::ArrayRef<int64_t> rhsStrides);
};

/// Where a contraction's result lies in its buffer: distances in elements per dimension.
struct ResultStrides {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> batch, rows, columns;

  /// [batch, M, N].
  static ResultStrides rowMajor(const ContractionSpec &spec);
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CONTRACTIONSPEC_H
