// reprise: the reference interpreter: slow, obvious, the judge of everything else.
#ifndef REPRISE_REFERENCE_INTERPRETER_H
#define REPRISE_REFERENCE_INTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Reference/Tensor.h"
#include <vector>

namespace reprise {

/// Runs `entry` on `arguments`, one per argument of the function and of its type, and returns its
/// results with canonical NaNs.
///
/// The function may stand in any phase up to `checkpoint`. Calls are followed; blocks and
/// checkpoints are executed; operands of elementwise ops may broadcast. Errors are reported at the
/// op: a `value_and_grad` (autodiff expands it), a random op without a seed (before the `random`
/// phase), a recursive call, an op without a ReferenceOpInterface. A value is freed after its last
/// use.
llvm::FailureOr<std::vector<Tensor>> interpret(mlir::func::FuncOp entry,
                                               llvm::ArrayRef<Tensor> arguments);

/// Whether the machine could hold all of `types`, tensors of the dialect, at once, if nothing else
/// were there.
bool fitsMemory(mlir::TypeRange types);

/// Attaches ReferenceOpInterface to the ops of the dialect.
void registerReference(mlir::DialectRegistry &registry);

} // namespace reprise

#endif
