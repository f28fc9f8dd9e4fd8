// reprise: lanes of micro-batches, and the order in which a sum over the batch is added
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_LANES_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_LANES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace reprise {

/// Division of a batch into M micro-batches, which form G lanes of M/G consecutive ones. If M does
/// not divide the samples, the first micro-batches have one sample more. G divides M.
struct Lanes {
  int64_t batch = 1, microbatches = 1, lanes = 1;

  /// Returns the micro-batches of a lane.
  int64_t each() const { return microbatches / lanes; }
  bool endsLane(int64_t microbatch) const { return (microbatch + 1) % each() == 0; }
  int64_t firstSample(int64_t microbatch) const {
    return microbatch * (batch / microbatches) + std::min(microbatch, batch % microbatches);
  }
};

/// Micro-batches whose sums are added: [first, middle) and [middle, end). `middle` is the first of
/// a lane if and only if the sums are those of whole lanes.
struct Joint {
  int64_t first, middle, end;
};

/// Sum over the batch, to which each micro-batch adds its part: a chain in each lane, and over the
/// sums of lanes the tree of neighbours. Of the blocks of one level each pair becomes a block of
/// the next, and an odd last block moves up. Blocks are added as soon as both are there, so n lanes
/// leave at most 1 + log2(n) sums.
template <typename Sum> class LaneSum {
public:
  using Add = llvm::function_ref<Sum(Sum left, Sum right, Joint joint)>;

  /// Adds the part of the next micro-batch.
  void add(Lanes lanes, Sum part, Add add) {
    replace(lanes, chain ? add(*chain, part, {begin, next, next + 1}) : part, add);
  }

  /// Sets the sum of the lane with the next micro-batch.
  void replace(Lanes lanes, Sum sum, Add add) {
    chain = sum;
    if (!lanes.endsLane(next++))
      return;
    Block block{begin, next, sum};
    bool isLast = next == lanes.microbatches;
    while (!blocks.empty() && (isLast || blocks.back().size() == block.size())) {
      Block left = blocks.pop_back_val();
      block = {left.first, block.end, add(left.sum, block.sum, {left.first, left.end, block.end})};
    }
    blocks.push_back(block);
    chain = isLast ? std::optional<Sum>(block.sum) : std::nullopt;
    begin = next;
  }

  /// Returns the sum of the lane so far, or, after the last micro-batch, the sum over the batch.
  std::optional<Sum> get() const { return chain; }

private:
  struct Block {
    int64_t first, end;
    Sum sum;
    int64_t size() const { return end - first; }
  };
  llvm::SmallVector<Block, 4> blocks;
  std::optional<Sum> chain;
  int64_t begin = 0, next = 0; ///< first micro-batch of the lane; micro-batches added so far
};

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_LANES_H
