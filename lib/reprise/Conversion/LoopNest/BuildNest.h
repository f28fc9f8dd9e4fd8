// reprise: builds the kernel of a loop nest from the ops of a group
#ifndef REPRISE_CONVERSION_LOOPNEST_BUILDNEST_H
#define REPRISE_CONVERSION_LOOPNEST_BUILDNEST_H

#include "Nest.h"

#include "mlir/IR/OwningOpRef.h"

namespace reprise::nests {

/// A value of the group that a nest computes.
struct Root {
  Stored what;
  mlir::Value value;
  /// Buffer of the elements or the parts; none if another root reads them inside the nest.
  std::optional<BufferSlot> slot = std::nullopt;

  bool isParts() const { return what == Stored::RowParts || what == Stored::ColumnParts; }
};

/// Rules of a target for nests.
struct NestRules {
  /// True: if rows are reduced, too, sums of columns have nests of their own. On a GPU the two need
  /// different threads, and a block of rows in one nest would have few threads.
  bool sumsApart = false;
  /// If a value has fewer long rows than this, the blocks of each row are shared out among the
  /// workers. For rows that are not long but have several blocks, the limit is half this number.
  int64_t fewRows = 16;
  /// Elements of a long row, and of a row that has several blocks.
  int64_t longRow = 8 * laneBlock, severalBlocks = 8 * laneBlock;
};

/// Buffers of the values that a nest may read, and parts of the reductions that it may finish.
struct Leaves {
  llvm::DenseMap<mlir::Value, BufferSlot> stored;
  struct Parts {
    BufferSlot slot;
    int64_t count;
  };
  llvm::DenseMap<mlir::Value, Parts> parts;
  /// The result of the contraction whose blocks the nest runs over, if it does.
  mlir::Value tile;
  NestRules rules = {};
};

/// The reason why a kernel cannot be built: `cut`, if not null, must be stored by an earlier nest.
struct Obstacle {
  mlir::Value cut;
  /// The reduction that is in the way could run in a nest of its own.
  bool misplaced = false;
};

/// Builds the kernel of roots over a shape whose factors fall apart as views need it.
mlir::FailureOr<mlir::OwningOpRef<KernelOp>> buildNest(Shape shape, llvm::ArrayRef<Root> roots,
                                                       const Leaves &leaves, Obstacle &obstacle);

/// True if a kernel, or an inner loop of it, has such an op.
template <typename OpT> bool has(KernelOp kernel) {
  return kernel.getBody().walk([](OpT) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

/// Modes of a reduction: the loops that carry it out.
enum class ReductionMode {
  InRow,     // within a nest, over its columns
  Sequence,  // within an element, over few rows
  RowParts,  // blocks of rows, then a second nest
  LaneParts, // blocks of columns of few long rows, then a second nest
};
struct ReductionInfo {
  ReductionMode mode;
  ReductionKind kind;
  /// [outer, rows, columns] of a nest that reduces rows, or [-, kept, reduced].
  Shape shape;
  int64_t kept, reduced;
  /// Blocks of the canonical order.
  int64_t blocks;
  bool ends() const { return mode == ReductionMode::RowParts || mode == ReductionMode::LaneParts; }
};
ReductionInfo getReductionInfo(ReductionOpInterface op, const NestRules &rules);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_LOOPNEST_BUILDNEST_H
