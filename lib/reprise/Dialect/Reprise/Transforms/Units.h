// reprise: inlines blocks and records which ops formed which replay unit.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_UNITS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_UNITS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Replay unit: a block, a loop, or a maximal run of ops between them.
struct Unit {
  int parent = -1; ///< enclosing block; -1 for the function
  bool isRun = false;
  bool hasBlocks = false;      ///< whether it contains blocks, so that its runs are units as well
  bool differentiated = false; ///< whether it is inside value_and_grad
  /// Ops of a run, in program order, without constants; or a loop.
  mlir::SmallVector<mlir::Operation *> ops;
};

/// Op of the flat graph and the checkpoints that enclosed it.
struct FlatOp {
  mlir::Operation *op;
  int checkpoint; ///< index into `UnitTree::checkpoints`; -1 for none
};

struct Checkpoint {
  int parent = -1; ///< enclosing checkpoint
  mlir::StringAttr policy;
  mlir::Location location;
};

/// The structure of one function, in program order; ops that are neither constants,
/// loops nor `value_and_grad` are listed.
struct UnitTree {
  std::vector<Unit> units;
  std::vector<FlatOp> ops;
  std::vector<Checkpoint> checkpoints;
};

/// Inlines all blocks and checkpoints of `function` and returns their tree. O(ops).
UnitTree flattenBlocks(mlir::func::FuncOp function, bool ignoreCheckpoints);

/// Gives every unit its id and every op its path of ids (`reprise.block`). Runs are units only
/// inside value_and_grad, and inside a block only if it contains blocks. A run whose ops are all
/// labelled to be recomputed (`reprise.label`) is cut at its narrowest frontiers.
void assignPaths(UnitTree &tree);

} // namespace reprise

#endif
