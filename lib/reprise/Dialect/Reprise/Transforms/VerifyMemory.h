// reprise: what a planned graph does with values and with the memory that they show
#ifndef REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H
#define REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H

#include "Plan.h"
#include "llvm/ADT/DenseMap.h"

namespace reprise {

/// What the graph does with one value of the primal part.
struct Use {
  bool held = false;         ///< the backward pass or a replay reads the original
  bool replayed = false;     ///< a replay of it is read
  bool outlives = false;     ///< it is read outside its value_and_grad
  bool crossesUnits = false; ///< one of the readers that hold it is of another outermost unit
  bool viewed = false;       ///< the original of a view of it is held
  bool viewOutlives = false; ///< such a view is read outside the value_and_grad
};
using Uses = llvm::DenseMap<mlir::Value, Use>;

/// Adds to the use of `value` what is done with its views, whose uses `uses` has.
void addViews(mlir::Value value, const Uses &uses, Use &use);

/// Checks that the label of a value holds, or that `reason` says why it does not.
mlir::LogicalResult verifyLabel(mlir::OpResult result, const Use &use, checkpoint::Reason why);

/// Checks that nothing of a scope holds memory that must be recomputed or moved to the host,
/// whatever looks at it: a view, or a pad that its readers compute.
mlir::LogicalResult verifyMemory(const Scope &scope, const Uses &uses);

} // namespace reprise

#endif // REPRISE_LIB_DIALECT_REPRISE_TRANSFORMS_VERIFYMEMORY_H
