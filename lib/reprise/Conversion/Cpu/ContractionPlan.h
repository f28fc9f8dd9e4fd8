// reprise: the choice of tiles, blocks and packing for a contraction, only from its shape and its
// target
#ifndef REPRISE_CONVERSION_CPU_CONTRACTIONPLAN_H
#define REPRISE_CONVERSION_CPU_CONTRACTIONPLAN_H

#include "reprise/Conversion/Cpu/Contraction.h"
#include "reprise/Conversion/Elements.h"

namespace reprise {

/// Source from which the tiles read an operand.
enum class Packing {
  None,    // operand in place
  Private, // slivers that each worker packs for the current block
  Shared   // slivers that an earlier command packed for all workers
};

/// Operand: its free dimensions become rows (lhs) or vector lanes (rhs) of the register tile.
struct OperandPlan {
  unsigned buffer;
  int64_t offset; // offset of the first element
  mlir::Type type;
  llvm::SmallVector<FreeDim> batch, free, contracted; // adjacent dimensions merged
  int64_t freeSize = 1;
  int64_t sliver = 1; // free indices per sliver
  Packing packing = Packing::Private;
  /// Tells whether a packed free index is one line of terms; otherwise a term is one line of free
  /// indices.
  bool lines = false;
  PrologueFn prologue = nullptr;

  int64_t slivers() const { return (freeSize + sliver - 1) / sliver; }
  /// Returns the free indices in the last sliver, if fewer than `sliver`; otherwise 0.
  int64_t tail() const { return freeSize % sliver; }
  bool linear() const { return free.size() <= 1 && contracted.size() <= 1; }
  int64_t freeStride() const { return free.empty() ? 1 : free.back().stride; }
  int64_t contractedStride() const { return contracted.empty() ? 1 : contracted.back().stride; }
};

struct ContractionPlan {
  /// The lanes run along the columns of the result, or along its rows if `swapped`.
  OperandPlan rows, lanes;
  bool swapped = false;
  mlir::Type accumulator;
  int64_t vectorLanes;      // elements per register
  int64_t batch = 1, terms; // terms: the contracted size
  int64_t kBlock; // terms between two stores of the accumulators; divides chainLength or is ≥ terms
  int64_t rowBlocks, laneBlocks;
  int64_t scratchLd;    // elements
  bool inPlace = false; // whether sums accumulate in the result itself
  /// Tells whether each sliver of rows is finished, and passed to the epilogue, before the next
  /// sliver.
  bool strips = false;

  int64_t items() const { return batch * rowBlocks * laneBlocks; }
  int64_t chains() const { return std::max<int64_t>(1, llvm::divideCeil(terms, chainLength)); }
  int64_t kBlocks() const { return std::max<int64_t>(1, llvm::divideCeil(terms, kBlock)); }
  int64_t rowSliversPerBlock() const { return llvm::divideCeil(rows.slivers(), rowBlocks); }
  int64_t laneSliversPerBlock() const { return llvm::divideCeil(lanes.slivers(), laneBlocks); }
  /// Returns the elements from one packed line of terms to the next, and from one packed sliver to
  /// the next. There is padding of one or two cache lines, since lines whose distance is a multiple
  /// of 4 KiB map to one set of the cache.
  int64_t lineElements() const {
    int64_t line = 64 / accumulatorBytes();
    return llvm::alignTo(kBlock, line) + line;
  }
  int64_t sliverElements(const OperandPlan &operand) const {
    int64_t line = 64 / accumulatorBytes();
    if (operand.lines)
      return operand.sliver * lineElements();
    return llvm::alignTo(kBlock * operand.sliver, line) + 2 * line;
  }
  int64_t packedElements(const OperandPlan &operand) const;
  /// Elements of one scratch block, and the blocks that the tree over chains needs.
  int64_t scratchElements() const {
    return (strips ? 1 : rowSliversPerBlock()) * rows.sliver * scratchLd;
  }
  int64_t scratchSlots() const;
  int64_t accumulatorBytes() const { return bytesOf(accumulator); }
};

ContractionPlan planContraction(const ContractionSpec &spec, const CpuTarget &target,
                                const ContractionHooks &hooks);

} // namespace reprise

#endif // REPRISE_CONVERSION_CPU_CONTRACTIONPLAN_H
