// reprise: the rows and columns of attention that each warp of a GPU computes
#ifndef REPRISE_CONVERSION_CUDA_WARPPLAN_H
#define REPRISE_CONVERSION_CUDA_WARPPLAN_H

#include "reprise/Conversion/AttentionSpec.h"
#include "reprise/Target/Launch.h"

namespace reprise {

/// Distribution of the work.
struct WarpPlan {
  static constexpr int64_t lanes = 32;
  /// Blocks per multiprocessor, whatever registers their threads need: one block computes while
  /// another waits.
  static constexpr int32_t blocksTogether = 2;

  struct Work {
    int64_t heads, rows; ///< rows of each head
    int64_t others;      ///< opposite rows of the head
    int64_t terms;       ///< terms of each sum
    int64_t sums;        ///< sums per row and column
    int64_t width;       ///< columns of the sums
    int64_t operands;    ///< operands whose rows are the others
  };
  WarpPlan(const AttentionSpec &spec, const Work &work);

  EmittedCommand describe(llvm::StringRef name, llvm::SmallVector<BufferSlot> buffers) const {
    EmittedCommand command{name.str(), blocks, std::move(buffers)};
    command.itemThreads = command.blockThreads = threads();
    return command;
  }
  int64_t threads() const { return warps * lanes; }
  int64_t weightBytes() const { return warps * warpWeights * lanes * computeBytes; }
  int64_t tileRows() const { return perLane * lanes; }
  int64_t tileBytes() const { return tileRows() * pitch * elementBytes; }
  int64_t sharedBytes() const { return tiles * tileBytes() + weightBytes(); }
  bool hasWholeColumns() const { return parts * columns * lanes == width; }

  int64_t headRows, others;
  int64_t rows;        // rows per warp
  int64_t warps;       // warps per block
  int64_t blocks;      // blocks in total
  int64_t headBlocks;  // blocks per head, for each part of the width
  int64_t width;       // columns of the sums
  int64_t columns;     // columns per lane
  int64_t parts;       // parts of the width, which different blocks compute
  int64_t warpWeights; // weights per other row and warp
  int64_t tiles;       // operands in shared memory; 0 if they do not fit
  int64_t perLane;     // others per lane
  int64_t pitch;       // elements from row to row of a tile
  int64_t elementBytes, computeBytes;

private:
  bool fits(int64_t operands, int64_t othersPerLane);
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_WARPPLAN_H
