// reprise: the result tile of a block of threads in a contraction, and its store
#ifndef REPRISE_CONVERSION_CUDA_RESULTTILE_H
#define REPRISE_CONVERSION_CUDA_RESULTTILE_H

#include "TileEpilogue.h"

#include <memory>

namespace reprise {

/// Rows and columns of a tile.
struct TileExtents {
  int64_t rows, columns;

  /// The largest that the contraction fills, with sides of 32, 64 or 128, at most `most`.
  static TileExtents largest(const ContractionSpec &spec, int64_t most);
  /// Tiles of the contraction.
  int64_t count(const ContractionSpec &spec) const;
  /// Halves the longer side until there are as many tiles as a large GPU has multiprocessors, or
  /// until `canHalve` returns false.
  void spread(const ContractionSpec &spec, llvm::function_ref<bool(TileExtents)> canHalve);
};

/// Adjacent dimensions with these strides, as few as tell where an index lies.
template <typename Dims>
llvm::SmallVector<FreeDim> mergeDims(const Dims &dims, llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<FreeDim> merged;
  for (auto [dim, stride] : llvm::zip_equal(dims, strides)) {
    if (dim.size == 1)
      continue;
    if (!merged.empty() && merged.back().stride == stride * dim.size)
      merged.back() = {merged.back().size * dim.size, stride};
    else
      merged.push_back({dim.size, stride});
  }
  return merged;
}

class ResultTile {
public:
  using Value = mlir::Value;

  /// Makes the tile. The ops of an epilogue, whose part of the result begins at `origin`, are
  /// applied to stored elements.
  ResultTile(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
             TileExtents extents, const TileEpilogue *epilogue, TileOrigin origin = {});

  /// Finds the tile of this block: blocks of eight rows of tiles go down before they go right.
  void place();
  /// Sets the tile that a kernel of kernels/cuda has found: the address of a TilePlace.
  void place(Value address);
  Value batch() const { return ofBatch; }
  /// Return the begin of the tile. The last tile of a side ends with the side, unless the side is
  /// shorter than a tile.
  Value firstRow() const { return rows.first; }
  Value firstColumn() const { return columns.first; }

  /// Returns whether `width` neighbouring columns, from a multiple of `width` on, are contiguous at
  /// such a multiple.
  bool hasNeighbours(int64_t width) const;
  /// Returns whether storeColumns() should get `width` columns.
  bool wantsNeighbours(int64_t width) const {
    return epilogue && epilogue->width() == width && hasNeighbours(width);
  }
  /// Runs ahead of the first row that is stored.
  void beginStores() {
    if (epilogue)
      epilogue->begin();
  }

  /// Place of a row: an index of elements, and a constant distance from it; or the epilogue's
  /// place.
  struct Line {
    Value begin;
    int64_t farther;
    nests::Scope *scope;
  };
  /// Gives `body` the place of the row that is `farther` rows beyond `rowInTile`, if this block has
  /// to store that row.
  void storeRow(Value rowInTile, int64_t farther, llvm::function_ref<void(Line)> body);
  /// Stores neighbours in a row, `farther` columns beyond `columnInTile`, if this block has to
  /// store them.
  void storeColumns(Line line, Value columnInTile, int64_t farther, mlir::ValueRange values);

private:
  /// Begin of a block's tile along one side, and begin of the elements that it stores.
  struct Range {
    Value first, owned;
    int64_t count, extent;
  };
  Range placeSide(Value number, int64_t count, int64_t extent);
  void storeElements(Line line, Value columnInTile, int64_t farther, mlir::ValueRange values);
  Value findColumn(Line line, Value columnInTile, int64_t farther);
  static bool hasWholeTiles(const Range &range) { return range.count % range.extent == 0; }
  void storeIfOwned(const Range &range, Value index, llvm::function_ref<void()> body);

  ThreadKernel &k;
  mlir::ImplicitLocOpBuilder &b;
  const ContractionSpec &spec;
  TileExtents extents;
  int64_t offset;
  llvm::SmallVector<FreeDim> batchDims, rowDims, columnDims; ///< with strides of the result
  std::unique_ptr<EpilogueEmitter> epilogue;
  Value ofBatch;
  Range rows, columns;
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CUDA_RESULTTILE_H
