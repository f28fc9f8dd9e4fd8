// reprise: the rows and columns of attention that each warp of a GPU computes
#include "WarpPlan.h"

#include "reprise/Conversion/ContractionSpec.h"
#include "reprise/Conversion/Elements.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace reprise {

/// Limits for one element of each row of a warp: a loaded element of another row is used in that
/// many products, and sums over the depth may occupy that many bytes of a thread's registers. If a
/// sum has several chains, partial sums need registers too.
constexpr int64_t mostRowBytes[] = {32, 16}, mostSumBytes[] = {256, 64};
/// Limits of a block.
constexpr int64_t mostSharedBytes = 48 * 1024, mostWarps = 4;

WarpPlan::WarpPlan(const AttentionSpec &spec, const Work &work)
    : headRows(work.rows), others(work.others), width(work.width),
      computeBytes(bytesOf(getComputeType(spec.type))) {
  bool hasChains = work.terms > chainLength;
  rows = std::clamp<int64_t>(headRows, 1, mostRowBytes[hasChains] / computeBytes);
  int64_t rowBlocks = llvm::divideCeil(headRows, rows);
  int64_t all = llvm::divideCeil(width, lanes);
  columns = 0, parts = 1;
  if (work.sums > 0) {
    int64_t most = mostSumBytes[hasChains] / (computeBytes * rows * work.sums);
    parts = std::max<int64_t>(1, llvm::divideCeil(all, std::max<int64_t>(1, most)));
    columns = llvm::divideCeil(all, parts);
  }
  warpWeights = rows * work.sums;
  // Lanes read 16 bytes each of rows that follow each other, from different banks.
  elementBytes = bytesOf(spec.type);
  int64_t longest = std::max(spec.depth(), spec.valueDepth());
  pitch = llvm::alignTo(longest, std::max<int64_t>(4, 16 / elementBytes)) + 16 / elementBytes;
  warps = std::clamp<int64_t>(rowBlocks, 1, mostWarps);
  if (!(work.others > lanes && !hasChains && fits(work.operands, 2)) && !fits(work.operands, 1))
    fits(0, 1);
  headBlocks = llvm::divideCeil(rowBlocks, warps);
  blocks = work.heads * headBlocks * parts;
}

/// Uses these numbers if shared memory has enough room for them.
bool WarpPlan::fits(int64_t operands, int64_t othersPerLane) {
  tiles = operands;
  perLane = othersPerLane;
  return sharedBytes() <= mostSharedBytes;
}

} // namespace reprise
