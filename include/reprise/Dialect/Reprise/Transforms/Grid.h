// reprise: the mesh and the shardings that a module has as ops of MLIR's dialect shard
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_GRID_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_GRID_H

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Mesh of a module: its `shard.grid`, whose axes have the names of `reprise.axes`. Without names,
/// one axis is model, two are data and model, and three are data, stage and model.
class Grid {
public:
  /// Finds the grid of a module. Errors, at the op: a second grid; a size that is not known; more
  /// axes than names.
  static mlir::FailureOr<Grid> find(mlir::ModuleOp module);

  /// Returns false for a module without a grid.
  explicit operator bool() const { return op != nullptr; }
  mlir::shard::GridOp getOp() const { return op; }
  /// Returns the name of an axis; empty for a number that the grid does not have.
  llvm::StringRef getName(int64_t axis) const;
  /// Returns the size of an axis; none if the grid does not have it.
  std::optional<int64_t> getSize(llvm::StringRef name) const;
  /// Fails at the grid if an axis has another size than requested.
  mlir::LogicalResult check(int64_t replicas, int64_t stages, int64_t parts) const;

private:
  mutable mlir::shard::GridOp op;
  llvm::SmallVector<llvm::StringRef> names;
};

/// Replaces `shard.shard` ops of an entry by attributes of its arguments: `reprise.shard` for the
/// axis model, and `reprise.batch_dim` for the axis data of an input. The ops may stand in the body
/// of a gradient. Errors, at the op with the argument and the dimension:
/// - a value that is no argument, and a sharding that no `shard.sharding` gives;
/// - an axis or a dimension that does not exist, and two axes for one dimension;
/// - the axis stage, and the axis data of an argument that is no input;
/// - halos and offsets;
/// - another sharding of the same argument.
mlir::LogicalResult takeShardings(mlir::func::FuncOp entry);

/// Returns whether a sharding cuts an argument of the entry, or of a private function, along the
/// axis model.
bool hasShardings(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_GRID_H
