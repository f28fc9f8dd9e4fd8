// reprise: what the compiler makes for each launch of a contraction, and the tile of a block
#ifndef REPRISE_KERNELS_CUDA_CONTRACTIONLAUNCH_H
#define REPRISE_KERNELS_CUDA_CONTRACTIONLAUNCH_H

#include "ContractionShape.h"
#include "Launch.h"

namespace reprise::cuda {

extern "C" {
// Made by the compiler, linked and inlined.
extern const ContractionShape shape;
/// Both operands' layoutOf(), one behind the other.
extern SHARED char shared_memory[];
/// Return the first element of an operand of the batch.
const GLOBAL char *lhs_batch(const Launch &launch, int64_t batch);
const GLOBAL char *rhs_batch(const Launch &launch, int64_t batch);
/// Return the distance in elements of (row, term) from the first element.
int64_t lhs_place(int64_t row, int64_t term);
int64_t rhs_place(int64_t row, int64_t term);
/// Applies the ops behind the contraction to sums of a row of the tile, and stores the results.
/// `values` are groups of shape.storeWidth neighbours, from column `column` of the tile on, eight
/// columns from group to group, as many as a warp's part of the tile has.
void store_row(const Launch &launch, const TilePlace &place, int64_t row, int64_t column,
               const float *values);
}

/// Operands, as MatrixTile reads them: tiles of `extent` rows and `terms` terms. The last tile ends
/// with the side, so rows are missing only if a side is shorter than a tile.
template <int extent, int terms> struct Lhs {
  static const OperandShape &shape() { return cuda::shape.lhs; }
  static Index place(Index row, Index term) { return lhs_place(row, term); }
  static Index tileTerms() { return terms; }
  static bool hasAllRows() { return shape().rows >= extent; }
};
template <int extent, int terms> struct Rhs {
  static const OperandShape &shape() { return cuda::shape.rhs; }
  static Index place(Index row, Index term) { return rhs_place(row, term); }
  static Index tileTerms() { return terms; }
  static bool hasAllRows() { return shape().rows >= extent; }
};

/// Rows of tiles that run at about the same time, so that they find the columns' operand in the
/// cache.
constexpr int tileRowsTogether = 8;

/// Begin of a block's tile along one side, and begin of the elements that the block stores. The
/// last tile ends with the side, unless the side is shorter than a tile. Elements that also belong
/// to the tile before are computed twice and stored once.
inline void placeSide(int64_t number, int64_t count, int extent, int64_t &first, int64_t &owned) {
  first = owned = number * extent;
  if (count > extent && count % extent != 0)
    first = least(owned, count - extent);
}

/// Returns the tile of this block: blocks of eight rows of tiles go down before they go right.
inline TilePlace placeOfBlock(int tileRows, int tileColumns) {
  int64_t rows = shape.lhs.rows, columns = shape.rhs.rows;
  unsigned down = (rows + tileRows - 1) / tileRows;
  unsigned across = (columns + tileColumns - 1) / tileColumns;
  unsigned block = blockInGrid(), inBatch = block % (down * across);
  unsigned together = tileRowsTogether * across;
  unsigned above = inBatch / together * tileRowsTogether, inside = inBatch % together;
  unsigned height = least(down - above, unsigned(tileRowsTogether));
  TilePlace place;
  place.batch = block / (down * across);
  placeSide(above + inside % height, rows, tileRows, place.row, place.ownedRow);
  placeSide(inside / height, columns, tileColumns, place.column, place.ownedColumn);
  return place;
}

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_CONTRACTIONLAUNCH_H
