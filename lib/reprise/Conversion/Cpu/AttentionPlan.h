// reprise: the choice of strips and tiles for attention, only from its shape and its target
#ifndef REPRISE_CONVERSION_CPU_ATTENTIONPLAN_H
#define REPRISE_CONVERSION_CPU_ATTENTIONPLAN_H

#include "ContractionPlan.h"
#include "reprise/Conversion/Cpu/Attention.h"

namespace reprise {

/// Lanes of a sum over a last dimension.
constexpr int64_t sumLanes = 32;

/// Plan of attention. Scores are computed as keys × queries: the lanes of a vector run along the
/// queries. Maxima and sums over keys therefore need no shuffles, only the queries are packed, and
/// a strip of probabilities is the packed left operand of the next product.
struct AttentionPlan {
  const AttentionSpec &spec;
  mlir::Type compute;
  int64_t width;         // elements per register
  int64_t rows;          // rows per tile of results
  int64_t scoreRows;     // keys per tile of scores
  int64_t lanes;         // queries per tile of scores; a multiple of width
  int64_t strip;         // queries per strip; a multiple of rows and of lanes, at most 63
  int64_t keyBlock;      // keys per step of the backward; a multiple of scoreRows and of 4
  int64_t itemRows;      // queries per work item of the forward; a multiple of strip
  ContractionPlan tiles; // plan for tiles and for the packing of queries

  AttentionPlan(const AttentionSpec &spec, const CpuTarget &target);

  int64_t bytes() const { return bytesOf(compute); }
  /// Work items of one head in the forward.
  int64_t rowBlocks() const { return llvm::divideCeil(spec.queries, itemRows); }
  static int64_t chainsOf(int64_t terms) {
    return std::max<int64_t>(1, llvm::divideCeil(terms, chainLength));
  }
  /// Returns the number of partial sums that the tree over the chains of `terms` terms needs at
  /// once.
  static int64_t slotsOf(int64_t terms) { return llvm::Log2_64(chainsOf(terms)) + 1; }
  /// Returns whether all sums are single chains, so that diagonals depend only on the shape.
  bool singleChains() const { return spec.keys <= chainLength && spec.queryTerms() <= chainLength; }
  /// Returns whether tiles read rows of such an operand in place instead of a copy.
  bool isDirect(const AttentionStrides &strides, bool asLanes) const;
  /// Returns the columns per tile of results of a matrix of `columns` columns; a multiple of width.
  int64_t columnLanes(int64_t columns) const { return std::min(ld(columns), 2 * width); }
  /// Returns the distance of rows of `columns` columns in workspace, in elements: whole registers.
  int64_t ld(int64_t columns) const { return static_cast<int64_t>(llvm::alignTo(columns, width)); }
  /// Returns the packing of queries of `columns` columns.
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
