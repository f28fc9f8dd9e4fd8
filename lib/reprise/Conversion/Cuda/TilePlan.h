// reprise: the tiles of a contraction on a GPU without tensor cores, and their estimated time
#ifndef REPRISE_CONVERSION_CUDA_TILEPLAN_H
#define REPRISE_CONVERSION_CUDA_TILEPLAN_H

#include "ResultTile.h"

namespace reprise {

/// Multiprocessors of the GPU for which sizes are chosen.
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

/// Contraction with tiles of one kind, and its cycles by a model.
struct TiledPart {
  ContractionSpec spec;
  ResultStrides result;
  TilePlan plan;
  int64_t time;
  TileOrigin origin = {};
};

/// Parts of the result that one kernel each computes, chosen only from sizes. If the last wave of
/// blocks would leave much of a GPU idle, a second kernel computes its part in smaller tiles.
llvm::SmallVector<TiledPart, 2> planTiles(const ContractionSpec &spec, const ResultStrides &result);

/// The cycles of all parts.
int64_t estimateTiles(const ContractionSpec &spec);

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_TILEPLAN_H
