// reprise: the schedule of a loop nest: work items, passes over a row, elements kept between passes
#ifndef REPRISE_CONVERSION_LOOPNEST_SCHEDULE_H
#define REPRISE_CONVERSION_LOOPNEST_SCHEDULE_H

#include "Nest.h"

namespace reprise::nests {

/// A loop over the columns of a row.
struct Pass {
  /// Reductions that this pass accumulates.
  llvm::SmallVector<ReduceOp> reductions;
  /// Stores of elements that this pass computes, or accumulates.
  llvm::SmallVector<StoreOp> roots;
  /// Elements that go into the worker's scratch: later passes load them.
  llvm::SmallVector<mlir::Value> kept;
  /// Reads that every element needs, from their buffers.
  llvm::SmallVector<mlir::Value> loads;
  /// Elements to compute once, before the loop.
  llvm::SmallVector<mlir::Value> rowNodes;
  /// True: the operands of reductions go into scratch, and a second loop reduces them.
  bool staged = false;
  /// Lanes of a vector of the reductions: 32, or a divisor of 32 if registers are few.
  int64_t laneWidth = reductionLanes;
};

/// An element that later passes load instead of computing it again.
struct Kept {
  /// The pass that computes them; `beforePasses` if they are fetched.
  int pass;
  /// Byte offset of a row in the workspace, or the root that stores them.
  int64_t offset = 0;
  StoreOp root = nullptr;
  /// The last pass that loads them.
  int last = 0;
};
/// Pass number of the loads that a row begins with.
constexpr int beforePasses = -1;

struct Schedule {
  std::vector<Pass> passes;
  /// Elements to compute once per kernel call.
  llvm::SmallVector<mlir::Value> kernelNodes;
  llvm::DenseMap<mlir::Value, Kept> kept;
  /// The last pass that computes an element of every column.
  llvm::DenseMap<mlir::Value, int> lastPass;
  /// Byte offsets in the workspace of a reduction's block results, if a row has more than one
  /// block.
  llvm::DenseMap<mlir::Operation *, int64_t> blockResults;
  int64_t workerBytes = 0;
  /// On a GPU: bytes of the block's shared memory for kept elements of a row, in the types of these
  /// elements. 0: none are kept there.
  int64_t rowBytes = 0;
  /// Reads whose elements go to the row's memory before the first pass.
  llvm::SmallVector<mlir::Value> fetched;

  /// Lanes of the loop over columns; 1 if elements must be computed one by one.
  int64_t width = 1;
  /// Every run of the innermost factor is a loop of its own with a masked rest, since its size is
  /// no multiple of the lanes.
  bool inRuns = false;
  /// Columns where a choice between operands changes, with both ends: each stretch is a loop of its
  /// own.
  llvm::SmallVector<int64_t> stretches;
  int64_t rowsPerItem = 1, columnsPerItem = 1;
  int64_t rowItems = 1, columnItems = 1, items = 0;
  /// Threads of a GPU that work on one item: 32 or 8, which share out the lanes of its reductions,
  /// or 1. On a CPU 0: lanes are those of vectors.
  int64_t itemThreads = 0;
  /// Threads of a block of a GPU.
  int64_t blockThreads = 0;
  /// Blocks for which a multiprocessor has registers at the same time.
  int64_t blocksTogether = 0;
};

/// How a target runs a nest.
using ScheduleFn = llvm::function_ref<Schedule(const Nest &)>;

/// The operands that a pass reduces in lanes: those of its reductions, then its roots.
llvm::SmallVector<mlir::Value> laneOperands(const Pass &pass);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_SCHEDULE_H
