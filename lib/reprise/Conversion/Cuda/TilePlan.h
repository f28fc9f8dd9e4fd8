// reprise: which tiles a contraction has on a GPU without tensor cores, and how long they take
#ifndef REPRISE_CONVERSION_CUDA_TILEPLAN_H
#define REPRISE_CONVERSION_CUDA_TILEPLAN_H

#include "ResultTile.h"

namespace reprise {

/// Of the GPU that sizes are chosen for.
constexpr int64_t multiprocessors = 132;
/// Lanes of a warp along rows, and along columns.
constexpr int64_t lanesDown = 4, lanesAcross = 8;

/// A block has a tile, and threads along both of its sides.
struct TilePlan {
  TileExtents extents;
  int64_t threadsDown, threadsAcross;

  int64_t threads() const { return threadsDown * threadsAcross; }
  int64_t perThread() const { return extents.rows * extents.columns / threads(); }
  /// Blocks on a multiprocessor, with 128 registers for a thread.
  int64_t together() const { return 512 / threads(); }
};

/// A contraction with tiles of one kind, and the cycles that it takes by a model.
struct TiledPart {
  ContractionSpec spec;
  ResultStrides result;
  TilePlan plan;
  int64_t time;
  TileOrigin origin = {};
};

/// Parts of the result that one kernel computes after the other, chosen from sizes alone. Where the
/// last wave of blocks would leave much of a GPU without work, a second kernel has what belongs to
/// it, in smaller tiles.
llvm::SmallVector<TiledPart, 2> planTiles(const ContractionSpec &spec, const ResultStrides &result);

/// The cycles of all parts.
int64_t estimateTiles(const ContractionSpec &spec);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEPLAN_H
