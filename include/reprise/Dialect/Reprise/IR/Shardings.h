// reprise: attributes that name the axis of a mesh along which a dimension is cut
#ifndef REPRISE_DIALECT_REPRISE_IR_SHARDINGS_H
#define REPRISE_DIALECT_REPRISE_IR_SHARDINGS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace reprise {

/// Sharding of an argument: a unit attribute or "model" for each dimension.
inline constexpr llvm::StringLiteral kShardAttr = "reprise.shard";
/// Shardings of the results of an op, as `reprise-annotate-shards` finds them.
inline constexpr llvm::StringLiteral kShardsAttr = "reprise.shards";
/// Axis over whose parts an op sums, as `reprise-annotate-shards` finds it.
inline constexpr llvm::StringLiteral kSumOverAttr = "reprise.sum_over";
/// Names of the axes of a `shard.grid`.
inline constexpr llvm::StringLiteral kAxesAttr = "reprise.axes";

/// Axes of a mesh, in the order in which they number devices, slowest first.
inline constexpr llvm::StringLiteral kDataAxis = "data", kStageAxis = "stage", kModelAxis = "model";

/// Returns a sharding whose dimension `dim` is cut along the axis model; -1 cuts none.
mlir::ArrayAttr makeSharding(mlir::MLIRContext *context, int64_t rank, int64_t dim);
/// Returns the dimension that a valid sharding cuts; -1 if it cuts none.
int64_t findShardedDim(mlir::ArrayAttr sharding);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_SHARDINGS_H
