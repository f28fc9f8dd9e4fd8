// reprise: sums of lanes as ops
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSUMS_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSUMS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns the type of a sum that is not rounded yet.
inline mlir::RankedTensorType widenSums(mlir::RankedTensorType type) {
  return mlir::cast<mlir::RankedTensorType>(type.clone(getComputeType(type.getElementType())));
}

/// Adds the values [first, first + count) in the tree of neighbours. `get` makes each value just
/// before its add, so that at most 1 + log2(count) sums live at once. The count is a power of two.
inline mlir::Value addNeighbours(mlir::ImplicitLocOpBuilder &b, int64_t first, int64_t count,
                                 llvm::function_ref<mlir::Value(int64_t)> get) {
  if (count == 1)
    return get(first);
  mlir::Value low = addNeighbours(b, first, count / 2, get);
  return AddOp::create(b, low, addNeighbours(b, first + count / 2, count / 2, get));
}

/// Rounds a sum to the type of the result.
inline mlir::Value roundSum(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                            mlir::RankedTensorType type) {
  return sum.getType() == type ? sum : CastOp::create(b, type, sum).getResult();
}

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_MODELSUMS_H
