// reprise: loads of contraction operands into shared memory by a block of threads, tile by tile
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

/// Operand of a contraction, [free rows of the operand, terms]. A tile is `extent` rows and
/// `tileDepth` terms. In shared memory the rows of a term are contiguous, in the type of
/// arithmetic.
class TileOperand {
public:
  /// Makes the operand. `isLhs` chooses the operand, which begins at a multiple of `alignment`
  /// bytes; `extent` is 32, 64 or 128, and `threads` a power of two.
  TileOperand(ThreadKernel &k, const ContractionSpec &spec, bool isLhs, int64_t extent,
              int64_t threads, int64_t alignment);

  /// Returns the bytes of all stages.
  int64_t sharedBytes() const { return tileStages * stageElements() * bytesOf(compute); }
  /// Sets the shared memory, the first row of the block's tiles, and the batch; must be called
  /// first. All rows of a tile exist, unless the operand has fewer.
  void open(mlir::Value memory, mlir::Value firstRow, mlir::Value batch);

  /// Begins to load the tile that starts at `firstTerm`, a multiple of tileDepth, into the stage.
  /// If it would exceed the terms, of which there are at least tileDepth, loads the last full tile
  /// instead. Elements that copies cannot load (a 16-bit float that must be widened) are loaded now
  /// and returned, for finish().
  llvm::SmallVector<mlir::Value> start(mlir::Value firstTerm, mlir::Value stage);
  /// Writes the elements that start() has loaded.
  void finish(llvm::ArrayRef<mlir::Value> loaded, mlir::Value stage);

  /// Return the place of the first term of a row in the stage's tile, and `width` rows of a term
  /// from that place on, `farther` rows beyond it.
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
  bool hasWholeTiles() const; ///< whether all rows of each tile exist
  void findTileTerms();
  std::optional<int64_t> findDistance(int64_t number) const;
  mlir::Value addressOf(int64_t number, mlir::Value firstTerm);
  mlir::Value locateRow(mlir::Value row);
  mlir::Value locateTerm(mlir::Value term);
  /// Returns the place of a unit in the stage of shared memory.
  mlir::Value placeOf(int64_t number, mlir::Value stage);

  ThreadKernel &k;
  const ContractionSpec &spec;
  bool isLhs;
  int64_t extent, threads;
  mlir::Type type, compute;
  llvm::SmallVector<FreeDim> rows, terms; ///< with the strides of this operand
  /// Dimensions of the terms of a tile, if every tile has the same layout; none otherwise.
  llvm::SmallVector<FreeDim> tileTerms;
  bool isCopied, alongTerms;
  int64_t unit; ///< neighbouring rows that a thread moves at once
  mlir::Value memory;
  mlir::Value ownPlace; ///< place of this thread's first unit in a stage, in elements
  /// Term within the tile, and start of the row, for each unit of this thread; with tileTerms,
  /// start of the unit in the first tile.
  llvm::SmallVector<mlir::Value> termInTile, rowStart;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEOPERAND_H
