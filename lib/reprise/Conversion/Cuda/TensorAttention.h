// reprise: emits the common parts of the kernels of attention on the tensor cores of a GPU
//
// A warp owns 16 rows: queries, or keys if sums go over queries. The opposite rows, the others,
// come through shared memory, 32 at a time, for all eight warps of the block. A tile of 16 × 32
// scores lies in the registers of the warp, which rounds the weights to 16 bits and multiplies them
// by the others again. Scores are never stored.
#ifndef REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
#define REPRISE_CONVERSION_CUDA_TENSORATTENTION_H

#include "AttentionScores.h"
#include "MatrixTile.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise::cuda {

/// Returns whether tensor cores compute the attention, or its backward; depends only on type and
/// sizes.
bool suitsTensorCores(const AttentionSpec &spec, Contractions contractions);

EmittedLaunch emitTensorAttention(mlir::ModuleOp kernels, llvm::StringRef name,
                                  const AttentionSpec &spec);
/// Adds the kernels that follow the kernel of delta.
void addTensorGradients(EmittedLaunch &launch, mlir::ModuleOp kernels, llvm::StringRef name,
                        const AttentionSpec &spec);

/// Rows that the warps of a block of `threads` have.
inline int64_t countBlockRows(int64_t threads) { return TensorCore::rows * threads / 32; }

/// Blocks for `rows` in each of `heads`.
inline int64_t countBlocks(int64_t threads, int64_t heads, int64_t rows) {
  return heads * static_cast<int64_t>(llvm::divideCeil(rows, countBlockRows(threads)));
}

/// Returns which of the lane's two rows a score belongs to.
inline int64_t halfOf(int64_t score) { return score % 4 / 2; }

/// Columns, in whole fragments, that a lane has `sums` of.
inline int64_t paddedBy(mlir::ValueRange sums) { return 2 * static_cast<int64_t>(sums.size()); }

class TensorAttention : protected AttentionScores {
public:
  static constexpr int64_t warpRows = TensorCore::rows, otherRows = 32;
  static constexpr double log2e = 1.4426950408889634074;

protected:
  using Sums = TensorCore::Sums;
  using Fragments = llvm::SmallVector<TensorCore::Fragment>;

  /// Rows of a warp; the others are the opposite rows.
  enum class Rows { Queries, Keys };
  /// Operand with rows of the given strides.
  struct Operand {
    unsigned buffer;
    AttentionStrides strides;
  };
  /// Current others: a part of a tile. A lane has scores of two own rows with a quarter of the
  /// others.
  struct Others {
    HeadIndex head; ///< head of the operands
    Value first;
    int64_t row = 0, rows = otherRows; ///< range within the tile
  };

  TensorAttention(ThreadKernel &k, const AttentionSpec &spec, const AttentionBuffers &buffers,
                  Rows own, Operand first, Operand second);

  /// The rows of the warp in an operand.
  Fragments readOwn(const Operand &operand, const HeadIndex &head);
  /// Iterates over `count` (at least one) tiles of others in order, `together` others at a time:
  /// fewer need fewer registers. Warps without a term in a tile skip the tile.
  Sums overTiles(Value count, int64_t together, mlir::ValueRange carried,
                 llvm::function_ref<Others(Value)> find,
                 llvm::function_ref<Sums(const Others &, Value stage, mlir::ValueRange)> body);
  /// Returns own · others for the lane's scores.
  Sums product(const Fragments &own, MatrixTile &tile, const Others &others, Value stage);
  /// Adds weights · others to sums over the depth.
  Sums addProduct(mlir::ValueRange weights, MatrixTile &tile, const Others &others, Value stage,
                  mlir::ValueRange sums);

  /// The other row that a score has.
  Value otherOf(int64_t score, Value first) {
    return k.add(k.add(first, k.mul(core.member(), 2)), score / 4 * 8 + score % 2);
  }
  /// Draw the words of four scores of the lane, from a multiple of four on. If rows of scores begin
  /// with a block of Philox, lanes whose scores share blocks draw one block each and exchange
  /// words.
  Words drawForQueries(const HeadIndex &head, int64_t score, Value firstKey);
  Words drawForKeys(const HeadIndex &head, int64_t score, Value firstQuery);
  /// Returns the row, clamped to existing others.
  Value inside(Value other) { return k.min(other, k.i64(otherCount - 1)); }
  /// Returns the scores from tensor core products, in units of `unit()`. They stay products if
  /// products are complete and grow with the score; otherwise they are the scores themselves.
  /// Scores that are no terms are -∞.
  Sums scores(Sums products, const HeadIndex &head, const Others &others);
  double unit() const { return isProduct() ? spec.scale : 1; }
  /// Returns exp(score − base·ln 2), rounded as f32, but 0 below about 2^-126.
  Value power(Value score, Value base);
  /// The query and the key of a score.
  std::pair<Value, Value> placeOf(int64_t score, Value firstOther);
  /// Returns whether some scores may be no terms, and whether a score is a term.
  bool mayHide() const { return spec.causal || spec.hasMask || otherCount % otherRows != 0; }
  Value isTerm(const HeadIndex &head, int64_t score, Value firstOther);

  Value lastRow(int64_t count) {
    return k.min(k.add(blockRow, countBlockRows(k.threadCount()) - 1), k.i64(count - 1));
  }
  /// Returns the columns in whole fragments, and the number of sums per lane for them.
  int64_t paddedOf(int64_t columns) const {
    return static_cast<int64_t>(llvm::alignTo(columns, TensorCore::depth));
  }
  int64_t sumCount(int64_t columns) const { return paddedOf(columns) / 2; }
  void forOwn(llvm::function_ref<void(int64_t half)> body);
  /// Stores rows of `columns` columns to row-major [head, row, column].
  void storeOwn(unsigned result, int64_t columns, mlir::ValueRange sums,
                llvm::function_ref<Value(Value sum, int64_t half)> map);

  TensorCore core;
  int64_t ownCount, otherCount; ///< number of rows
  MatrixTile first, second;
  Value headNumber, blockRow;
  Value own[2]; ///< rows of the lane; rows beyond the last are the last

private:
  GlobalMatrix matrixOf(const Operand &operand) const;
  void findBlock();
  bool isProduct() const { return !spec.hasBias && spec.scale > 0; }
  /// Return whether the warp has a score that is no term, by its place, and whether a tile has a
  /// score that is a term.
  Value hidesSome(const Others &others);
  Value seesSome(Value firstOther);
  Value loadPair(const Operand &operand, Value base, Value row, Value column);

  Rows rows;
  Operand firstOperand, secondOperand;
  Value memory, warpRow;
};

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
