// reprise: how a block of threads brings an operand of a contraction into shared memory, tile by
// tile
#ifndef REPRISE_CONVERSION_CUDA_TILEOPERAND_H
#define REPRISE_CONVERSION_CUDA_TILEOPERAND_H

#include "ThreadKernel.h"
#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Elements.h"

namespace reprise {

/// Contracted indices of a tile.
constexpr int64_t tileDepth = 8;
/// Tiles in shared memory: one is used while the others are filled. A power of two.
constexpr int64_t tileStages = 4;

/// One operand of a contraction, [rows of the operand that are not contracted, terms]. A tile is
/// `extent` rows and `tileDepth` terms. In shared memory the rows of a term are neighbours, in the
/// type of arithmetic.
class TileOperand {
public:
  /// `isLhs` chooses the operand, which begins at a multiple of `alignment` bytes; `extent` is 32,
  /// 64 or 128, and `threads` a power of two.
  TileOperand(ThreadKernel &k, const ContractionSpec &spec, bool isLhs, int64_t extent,
              int64_t threads, int64_t alignment);

  /// Of all stages.
  int64_t sharedBytes() const { return tileStages * stageElements() * bytesOf(compute); }
  /// Before anything else: the shared memory, the first row of the block's tiles, the batch. All
  /// rows of a tile are there, unless the operand has fewer.
  void open(mlir::Value memory, mlir::Value firstRow, mlir::Value batch);

  /// Begins to bring the tile that begins with that term, a multiple of tileDepth, into the stage;
  /// where it would reach beyond the terms, of which there are tileDepth or more, their last tile.
  /// What copies cannot do on their own (a 16-bit float that must be widened) is loaded now and
  /// returned, for finish().
  llvm::SmallVector<mlir::Value> start(mlir::Value firstTerm, mlir::Value stage);
  /// Writes what start() has loaded.
  void finish(llvm::ArrayRef<mlir::Value> loaded, mlir::Value stage);

  /// Where a row of the stage's tile has its first term. And `width` rows from there on, that many
  /// rows farther, of a term.
  mlir::Value find(mlir::Value stage, mlir::Value row);
  mlir::Value read(mlir::Value place, int64_t term, int64_t farther, int64_t width);

private:
  int64_t pitch() const { return extent + 4; }
  int64_t stageElements() const { return pitch() * tileDepth; }
  int64_t unitsPerThread() const { return extent * tileDepth / (threads * unit); }
  int64_t chooseUnit(int64_t alignment) const;
  bool runsAlongTerms() const;
  /// Rows, or terms, from one unit of a thread to its next.
  int64_t pass() const { return threads / (alongTerms ? tileDepth : extent / unit); }
  bool hasWholeTiles() const; ///< all rows of each tile are there
  void findTileTerms();
  std::optional<int64_t> findDistance(int64_t number) const;
  mlir::Value addressOf(int64_t number, mlir::Value firstTerm);
  mlir::Value locateRow(mlir::Value row);
  mlir::Value locateTerm(mlir::Value term);
  /// In the stage of shared memory.
  mlir::Value placeOf(int64_t number, mlir::Value stage);

  ThreadKernel &k;
  const ContractionSpec &spec;
  bool isLhs;
  int64_t extent, threads;
  mlir::Type type, compute;
  llvm::SmallVector<FreeDim> rows, terms; ///< with the strides of this operand
  /// Dimensions of the terms of a tile, if these lie alike in every tile; none otherwise.
  llvm::SmallVector<FreeDim> tileTerms;
  bool isCopied, alongTerms;
  int64_t unit; ///< neighbouring rows that a thread moves at once
  mlir::Value memory;
  mlir::Value ownPlace; ///< of this thread's first unit in a stage, in elements
  /// Per unit of this thread: its term within the tile, and where its row begins; with tileTerms,
  /// where the unit begins in the first tile.
  llvm::SmallVector<mlir::Value> termInTile, rowStart;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEOPERAND_H
