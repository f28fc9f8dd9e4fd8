// reprise: inlines blocks and remembers which ops formed which replay unit.
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_UNITS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_UNITS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// A block, a loop, or a maximal run of ops between them.
struct Unit {
  int parent = -1; ///< the enclosing block; -1 for the function
  bool isRun = false;
  bool hasBlocks = false;      ///< blocks are nested in it, so that its runs are units, too
  bool differentiated = false; ///< inside value_and_grad
  mlir::SmallVector<mlir::Operation *> ops; ///< of runs, in program order; no constants; a loop
};

/// One op of the flat graph and the checkpoints that enclosed it.
struct FlatOp {
  mlir::Operation *op;
  int checkpoint; ///< index into `UnitTree::checkpoints`; -1 for none
};

struct Checkpoint {
  int parent = -1; ///< the enclosing checkpoint
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

/// Inlines all blocks and checkpoints of `function` and returns what they were. O(ops).
UnitTree flattenBlocks(mlir::func::FuncOp function, bool ignoreCheckpoints);

/// Gives every unit its id and every op its path of ids (`reprise.block`). Runs are units only
/// where something is differentiated and, inside a block, only if blocks are nested in that. A run
/// whose ops all want to be recomputed (`reprise.label`) is cut at its narrowest frontiers.
void assignPaths(UnitTree &tree);

} // namespace reprise

#endif
