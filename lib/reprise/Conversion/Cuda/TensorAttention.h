// reprise: emits what the kernels of attention on the tensor cores of a GPU share
//
// A warp has 16 rows of its own: queries, or keys where sums go over queries. The rows that these
// meet, the others, come through shared memory, 32 at a time, for all eight warps of the block. A
// tile of 16 × 32 scores lies in the registers of the warp, which rounds what it makes of them to
// 16 bits and multiplies that by the others again. A score is in no memory.
#ifndef REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
#define REPRISE_CONVERSION_CUDA_TENSORATTENTION_H

#include "AttentionScores.h"
#include "MatrixTile.h"
#include "reprise/Conversion/Cuda/CudaBackend.h"

namespace reprise::cuda {

/// Whether tensor cores compute the attention, or its backward: type and sizes alone decide.
bool suitsTensorCores(const AttentionSpec &spec, Contractions contractions);

EmittedLaunch emitTensorAttention(mlir::ModuleOp kernels, llvm::StringRef name,
                                  const AttentionSpec &spec);
/// Adds the kernels behind the one that computes delta.
void addTensorGradients(EmittedLaunch &launch, mlir::ModuleOp kernels, llvm::StringRef name,
                        const AttentionSpec &spec);

/// Rows that the warps of a block of `threads` have.
inline int64_t countBlockRows(int64_t threads) { return TensorCore::rows * threads / 32; }

/// Blocks for `rows` in each of `heads`.
inline int64_t countBlocks(int64_t threads, int64_t heads, int64_t rows) {
  return heads * static_cast<int64_t>(llvm::divideCeil(rows, countBlockRows(threads)));
}

/// Which of the lane's two rows a score has.
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

  /// What the rows of a warp are; the others are the other ones.
  enum class Rows { Queries, Keys };
  /// An operand: rows of the given strides.
  struct Operand {
    unsigned buffer;
    AttentionStrides strides;
  };
  /// The others at hand: some of a tile. A lane has scores of two rows of its own with a quarter of
  /// them.
  struct Others {
    HeadIndex head; ///< of the operands
    Value first;
    int64_t row = 0, rows = otherRows; ///< within the tile
  };

  TensorAttention(ThreadKernel &k, const AttentionSpec &spec, const AttentionBuffers &buffers,
                  Rows own, Operand first, Operand second);

  /// The rows of the warp in an operand.
  Fragments readOwn(const Operand &operand, const HeadIndex &head);
  /// Goes through tiles of others in order, `count` of them, at least one, `together` others at a
  /// time: fewer take fewer registers. Warps of which no score is a term skip a tile.
  Sums overTiles(Value count, int64_t together, mlir::ValueRange carried,
                 llvm::function_ref<Others(Value)> find,
                 llvm::function_ref<Sums(const Others &, Value stage, mlir::ValueRange)> body);
  /// own · others for the lane's scores.
  Sums product(const Fragments &own, MatrixTile &tile, const Others &others, Value stage);
  /// Adds weights · others to sums over the depth.
  Sums addProduct(mlir::ValueRange weights, MatrixTile &tile, const Others &others, Value stage,
                  mlir::ValueRange sums);

  /// The other row that a score has.
  Value otherOf(int64_t score, Value first) {
    return k.add(k.add(first, k.mul(core.member(), 2)), score / 4 * 8 + score % 2);
  }
  /// The words of four scores of the lane, from a multiple of four on. Where rows of scores begin
  /// with a block of Philox, lanes whose scores share blocks draw one each and exchange words.
  Words drawForQueries(const HeadIndex &head, int64_t score, Value firstKey);
  Words drawForKeys(const HeadIndex &head, int64_t score, Value firstQuery);
  /// One that is there.
  Value inside(Value other) { return k.min(other, k.i64(otherCount - 1)); }
  /// Scores as tensor cores leave them, in units of `unit()`: products alone, or, where these are
  /// not all, or do not grow with the score, the scores themselves. What is no term is -∞.
  Sums scores(Sums products, const HeadIndex &head, const Others &others);
  double unit() const { return isProduct() ? spec.scale : 1; }
  /// exp(score − base·ln 2), rounded as f32, but 0 below 2^-126 or so.
  Value power(Value score, Value base);
  /// The query and the key of a score.
  std::pair<Value, Value> placeOf(int64_t score, Value firstOther);
  /// Whether some scores may be no terms, and whether one is a term.
  bool mayHide() const { return spec.causal || spec.hasMask || otherCount % otherRows != 0; }
  Value isTerm(const HeadIndex &head, int64_t score, Value firstOther);

  Value lastRow(int64_t count) {
    return k.min(k.add(blockRow, countBlockRows(k.threadCount()) - 1), k.i64(count - 1));
  }
  /// Columns in whole fragments; sums of a lane over so many columns.
  int64_t paddedOf(int64_t columns) const {
    return static_cast<int64_t>(llvm::alignTo(columns, core.depth()));
  }
  int64_t sumCount(int64_t columns) const { return paddedOf(columns) / 2; }
  void forOwn(llvm::function_ref<void(int64_t half)> body);
  /// Stores rows of so many columns to row-major [head, row, column].
  void storeOwn(unsigned result, int64_t columns, mlir::ValueRange sums,
                llvm::function_ref<Value(Value sum, int64_t half)> map);

  TensorCore core;
  int64_t ownCount, otherCount; ///< rows
  MatrixTile first, second;
  Value headNumber, blockRow;
  Value own[2]; ///< rows of the lane, the last one for those that there are not

private:
  GlobalMatrix matrixOf(const Operand &operand) const;
  void findBlock();
  bool isProduct() const { return !spec.hasBias && spec.scale > 0; }
  /// Whether the warp has a score that is no term, by its place; and, of a tile, one that is.
  Value hidesSome(const Others &others);
  Value seesSome(Value firstOther);
  Value loadPair(const Operand &operand, Value base, Value row, Value column);

  Rows rows;
  Operand firstOperand, secondOperand;
  Value memory, warpRow;
};

} // namespace reprise::cuda

#endif // REPRISE_CONVERSION_CUDA_TENSORATTENTION_H
