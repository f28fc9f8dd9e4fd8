// reprise: shape of attention on tensor cores, which the compiler writes and the kernel reads
#ifndef REPRISE_KERNELS_CUDA_ATTENTIONSHAPE_H
#define REPRISE_KERNELS_CUDA_ATTENTIONSHAPE_H

#include "ContractionShape.h"

namespace reprise::cuda {

/// Operand [batch, head, row, column], by its strides in elements.
struct AttentionOperand {
  int64_t buffer;
  int64_t batch, head, row, column;
  int64_t isPaired;   ///< 1 if two neighbours of a row are one aligned word
  OperandShape shape; ///< of a head; the terms are the columns

  /// Returns the columns in whole fragments.
  constexpr int64_t paddedColumns() const { return (shape.terms + 15) / 16 * 16; }
};

/// Numbers of a kernel. A warp owns rows of `own` and meets rows of `tiles`, the others.
struct AttentionShape {
  int64_t batch, heads, keyHeads, queries, keys;
  AttentionOperand own[2], tiles[2];
  int64_t isCausal, hasMask;
  int64_t isProduct; ///< 1 if products stand for scores, in other units
  int64_t draws, hasWholeBlocks;
  /// Buffers of out and lse, or of the gradients of queries, keys, values and scores; -1: none.
  int64_t results[4];
  int64_t delta; ///< buffer of log2(e)·lse and delta, of each query

  constexpr int64_t group() const { return heads / keyHeads; }
};

constexpr int attentionRows = 32, attentionStages = 2; ///< of a tile of others

/// Returns the layout of a tile of others in shared memory.
constexpr TileLayout attentionLayout(const AttentionOperand &operand) {
  return TileLayout(attentionRows, int(operand.paddedColumns()), /*elementBytes=*/2,
                    attentionStages, operand.shape.alongTerms != 0);
}

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_ATTENTIONSHAPE_H
