// reprise: the tile of a contraction's result that a block of threads has, and where it is stored
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
  /// `canHalve` says no.
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

  /// With an epilogue, whose part of the result begins at `origin`, its ops are applied to what is
  /// stored.
  ResultTile(ThreadKernel &k, const ContractionSpec &spec, const ResultStrides &result,
             TileExtents extents, const TileEpilogue *epilogue, TileOrigin origin = {});

  /// Finds the tile of this block: blocks of eight rows of tiles go down before they go right.
  void place();
  Value batch() const { return ofBatch; }
  /// Where the tile begins. The last tile of a side ends with it, so that none reaches beyond,
  /// unless the side is shorter than a tile.
  Value firstRow() const { return rows.first; }
  Value firstColumn() const { return columns.first; }

  /// Whether so many neighbouring columns, from a multiple of that on, lie beside each other at
  /// such a multiple.
  bool hasNeighbours(int64_t width) const;
  /// Whether storeColumns() had better be given so many.
  bool wantsNeighbours(int64_t width) const {
    return epilogue && epilogue->width() == width && hasNeighbours(width);
  }
  /// Ahead of the first row that is stored.
  void beginStores() {
    if (epilogue)
      epilogue->begin();
  }

  /// The place of a row: an index of elements, and a constant distance from there; or that of the
  /// epilogue.
  struct Line {
    Value begin;
    int64_t farther;
    nests::Scope *scope;
  };
  /// Gives the place of the row that is so many rows beyond the one that is given to `body`, if
  /// this block has to store that row.
  void storeRow(Value rowInTile, int64_t farther, llvm::function_ref<void(Line)> body);
  /// Stores neighbours in a row, so many columns beyond the one that is given, those that this
  /// block has to store.
  void storeColumns(Line line, Value columnInTile, int64_t farther, mlir::ValueRange values);

private:
  /// Where the tile of a block begins along one side, and where what it stores begins.
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
