// reprise: what a planned step keeps for its backward pass
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// The distinct buffers, after `checkpoint`, that a primal op defines and a cotangent op or a
/// replay reads, without returned state (docs/reference/Policies.md), each as the value that owns
/// it. What a loop keeps are its stacks. Their bytes are the `saved_bytes` of the step.
llvm::SmallVector<mlir::Value> findSavedBuffers(ProgramOp function);

/// Values of the function's block, after `checkpoint`, that the function returns, or that ops
/// behind the gradient read that made them, such as another gradient, also through views. They are
/// in memory whatever is decided for the backward pass of their gradient.
llvm::DenseSet<mlir::Value> findOutliving(ProgramOp function);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_TRANSFORMS_SAVEDBUFFERS_H
