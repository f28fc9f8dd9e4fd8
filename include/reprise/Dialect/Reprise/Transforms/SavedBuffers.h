// reprise: buffers that a planned step keeps for its backward pass
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Returns the distinct buffers, after `checkpoint`, that a primal op defines and a cotangent op or
/// a replay reads, without returned state (docs/reference/Policies.md). Each buffer is represented
/// by the value that owns it. A loop keeps its stacks. The sum of their bytes is the `saved_bytes`
/// of the step.
llvm::SmallVector<mlir::Value> findSavedBuffers(ProgramOp function);

/// Returns values of the function's block, after `checkpoint`, that stay in memory for every
/// decision about the backward pass of their gradient. The function returns them, or ops after the
/// gradient, such as another gradient, read them, also through views.
llvm::DenseSet<mlir::Value> findOutliving(ProgramOp function);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H
