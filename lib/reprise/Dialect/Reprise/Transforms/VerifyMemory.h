// reprise: uses of values and of the memory that they show in a planned graph
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H

#include "Plan.h"
#include "llvm/ADT/DenseMap.h"

namespace reprise {

/// Uses of one value of the primal part.
struct Use {
  bool held = false;         ///< the backward pass or a replay reads the original
  bool replayed = false;     ///< a replay of the value is read
  bool outlives = false;     ///< the value is read outside its value_and_grad
  bool crossesUnits = false; ///< a reader that holds the value is in another outermost unit
  bool viewed = false;       ///< the original of a view of the value is held
  bool viewOutlives = false; ///< a view of it is read outside the value_and_grad
};
using Uses = llvm::DenseMap<mlir::Value, Use>;

/// Adds to the use of `value` the uses of its views, from `uses`.
void addViews(mlir::Value value, const Uses &uses, Use &use);

/// Verifies that the label of a value holds, or that `why` gives the reason why it does not.
mlir::LogicalResult verifyLabel(mlir::OpResult result, const Use &use, checkpoint::Reason why);

/// Verifies that no value of a scope holds memory that must be recomputed or moved to the host:
/// neither views nor pads that their readers compute.
mlir::LogicalResult verifyMemory(const Scope &scope, const Uses &uses);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H
