// reprise: contractions on the tensor cores of a GPU, one tile of the result per block
//
// The warps of a block share a tile of up to 128 × 128 elements. Terms come through shared memory
// in stages of 64 bytes a row, and each warp adds the products of its part in registers. Four warps
// read each element of the operands twice, eight warps up to four times, which makes the banks of
// shared memory the bottleneck. But elements that copies cannot load wait in registers, of which
// four warps have too few.
#ifndef REPRISE_KERNELS_CUDA_TENSORCONTRACTION_H
#define REPRISE_KERNELS_CUDA_TENSORCONTRACTION_H

#include "ContractionLaunch.h"
#include "MatrixTile.h"

namespace reprise::cuda {

/// Contraction in tiles of `rows` × `columns` elements. Each element is the sum of products of
/// Element::depth terms, added in f32 in the order of terms.
template <typename Element, int rows, int columns, int warps> class TensorContraction {
  using Stored = typename Element::Stored;
  static constexpr int threads = warps * warpSize;
  static constexpr int stages = stagesOf(sizeof(Stored)), depth = stageTermsOf(sizeof(Stored));
  static constexpr WarpGrid grid = WarpGrid(rows, columns, warps);
  static constexpr int rowFragments = grid.rows / 16, columnFragments = grid.columns / 16;

  template <typename Operand, int extent>
  using Tile = MatrixTile<Element, Operand, extent, depth, stages, threads>;
  using LhsTile = Tile<Lhs<rows, depth>, rows>;
  using RhsTile = Tile<Rhs<columns, depth>, columns>;

public:
  TensorContraction(const Launch &launch)
      : launch(launch), place(placeOfBlock(rows, columns)), lhs(shared_memory),
        rhs(shared_memory + layoutOf(shape.lhs, rows, sizeof(Stored)).bytes()),
        lhsBatch(lhs_batch(launch, place.batch)), rhsBatch(rhs_batch(launch, place.batch)),
        warpRow(div(warpInBlock(), grid.across) * grid.rows),
        warpColumn(rem(warpInBlock(), grid.across) * grid.columns) {}

  /// Loads the next stages while one is multiplied. The last stage is loaded again.
  void run() {
    Index steps = (shape.lhs.terms + depth - 1) / depth;
#pragma unroll
    for (int i = 0; i < stages - 1; ++i) {
      start(least<Index>(i, steps - 1), i);
      commitCopies();
      finish(i);
    }
    Index stage = 0;
#pragma nounroll
    for (Index step = 0; step < steps; ++step) {
      awaitCopies<stages - 2>();
      __syncthreads();
      // All warps have finished the previous stage.
      Index free = stage == 0 ? stages - 1 : stage - 1;
      start(least<Index>(step + stages - 1, steps - 1), free);
      commitCopies();
      multiply(stage);
      finish(free);
      stage = stage == stages - 1 ? 0 : stage + 1;
    }
    awaitCopies<0>();
    if (shape.storeWidth == 4)
      storeFours();
    else
      storePairs();
  }

private:
  void start(Index step, Index stage) {
    lhs.start(lhsBatch, place.row, step * depth, stage, lhsLoaded);
    rhs.start(rhsBatch, place.column, step * depth, stage, rhsLoaded);
  }
  void finish(Index stage) {
    lhs.finish(lhsLoaded, stage);
    rhs.finish(rhsLoaded, stage);
  }

  void multiply(Index stage) {
#pragma unroll
    for (int term = 0; term < depth; term += Element::depth) {
      Fragment left[rowFragments], right[columnFragments];
#pragma unroll
      for (int i = 0; i < rowFragments; ++i)
        left[i] = lhs.read(Side::First, stage, warpRow + i * 16, term);
#pragma unroll
      for (int i = 0; i < columnFragments; ++i)
        right[i] = rhs.read(Side::Second, stage, warpColumn + i * 16, term);
      multiplyAll<Element>(left, right, sums);
    }
  }

  /// Stores two neighbours of a row per lane and eight columns.
  void storePairs() const {
#pragma unroll
    for (int i = 0; i < rowFragments; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float values[2 * columnFragments][2];
#pragma unroll
        for (int j = 0; j < 2 * columnFragments; ++j)
          values[j][0] = sums[i][j].of[half * 2], values[j][1] = sums[i][j].of[half * 2 + 1];
        store_row(launch, place, warpRow + laneGroup() + i * 16 + half * 8,
                  warpColumn + laneMember() * 2, &values[0][0]);
      }
  }

  /// Stores four neighbours of a row per lane. A lane has two neighbours in each of two rows and
  /// exchanges two with the lane beside it.
  void storeFours() const {
    bool isOdd = rem(laneMember(), 2) == 1;
    Index row = warpRow + laneGroup() + (isOdd ? 8 : 0), column = div(laneMember(), 2) * 4;
#pragma unroll
    for (int i = 0; i < rowFragments; ++i) {
      float values[2 * columnFragments][4];
#pragma unroll
      for (int j = 0; j < 2 * columnFragments; ++j) {
        const float (&own)[4] = sums[i][j].of;
        float first = exchange(isOdd ? own[0] : own[2], 1);
        float second = exchange(isOdd ? own[1] : own[3], 1);
        values[j][0] = isOdd ? first : own[0];
        values[j][1] = isOdd ? second : own[1];
        values[j][2] = isOdd ? own[2] : first;
        values[j][3] = isOdd ? own[3] : second;
      }
      store_row(launch, place, row + i * 16, warpColumn + column, &values[0][0]);
    }
  }

  const Launch &launch;
  TilePlace place;
  LhsTile lhs;
  RhsTile rhs;
  const GLOBAL char *lhsBatch, *rhsBatch;
  typename LhsTile::Loaded lhsLoaded;
  typename RhsTile::Loaded rhsLoaded;
  Index warpRow, warpColumn; ///< begin within the tile
  Sums sums[rowFragments][2 * columnFragments] = {};
};

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_TENSORCONTRACTION_H
