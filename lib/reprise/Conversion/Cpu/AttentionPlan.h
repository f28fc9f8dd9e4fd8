// reprise: the choice of strips and tiles for attention, from its shape and its target alone
#ifndef REPRISE_CONVERSION_CPU_ATTENTIONPLAN_H
#define REPRISE_CONVERSION_CPU_ATTENTIONPLAN_H

#include "ContractionPlan.h"
#include "reprise/Conversion/Cpu/Attention.h"

namespace reprise {

/// Lanes of a sum over a last dimension.
constexpr int64_t sumLanes = 32;

/// Scores are computed as keys × queries: the lanes of a vector run along the queries, so that
/// maxima and sums over keys need no shuffles, only the queries are packed, and a strip of
/// probabilities is already the packed left operand of what follows.
struct AttentionPlan {
  const AttentionSpec &spec;
  mlir::Type compute;
  int64_t width;         // elements of one register
  int64_t rows;          // of a tile of results
  int64_t scoreRows;     // keys of a tile of scores
  int64_t lanes;         // queries of a tile of scores; a multiple of width
  int64_t strip;         // queries of a strip; a multiple of rows and of lanes, at most 63
  int64_t keyBlock;      // keys that the backward handles at a time; a multiple of scoreRows, of 4
  int64_t itemRows;      // queries of one work item of the forward; a multiple of strip
  ContractionPlan tiles; // for tiles and for the packing of queries

  AttentionPlan(const AttentionSpec &spec, const CpuTarget &target);

  int64_t bytes() const { return bytesOf(compute); }
  /// Work items of one head in the forward.
  int64_t rowBlocks() const { return llvm::divideCeil(spec.queries, itemRows); }
  static int64_t chainsOf(int64_t terms) {
    return std::max<int64_t>(1, llvm::divideCeil(terms, chainLength));
  }
  /// Partial sums that the tree over so many chains needs at once.
  static int64_t slotsOf(int64_t terms) { return llvm::Log2_64(chainsOf(terms)) + 1; }
  /// All sums are single chains, so that diagonals lie where the shape tells.
  bool singleChains() const { return spec.keys <= chainLength && spec.queryTerms() <= chainLength; }
  /// Whether tiles read rows of such an operand as they lie in memory, or need a copy of them.
  bool isDirect(const AttentionStrides &strides, bool asLanes) const;
  /// Columns of a tile of results that have so many; a multiple of width.
  int64_t columnLanes(int64_t columns) const { return std::min(ld(columns), 2 * width); }
  /// The distance of rows of so many columns in workspace: whole registers.
  int64_t ld(int64_t columns) const { return static_cast<int64_t>(llvm::alignTo(columns, width)); }
  /// The packing of queries of so many columns.
  ContractionPlan packingOf(int64_t columns) const {
    ContractionPlan packing = tiles;
    packing.kBlock = packing.terms = columns;
    return packing;
  }
  /// Elements from one packed group of `lanes` queries to the next.
  int64_t packedElements(int64_t columns) const {
    return packingOf(columns).sliverElements(tiles.lanes);
  }
};

/// Gives out parts of a worker's workspace; all offsets are bytes, aligned to 64.
struct WorkspaceLayout {
  int64_t bytes = 0;
  int64_t reserve(int64_t elements, int64_t elementBytes) {
    int64_t at = bytes;
    bytes += llvm::alignTo(elements * elementBytes, 64);
    return at;
  }
};

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_ATTENTIONPLAN_H
