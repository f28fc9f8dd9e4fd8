// reprise: the reference interpreter: slow, obvious, the judge of everything else.
#ifndef REPRISE_REFERENCE_INTERPRETER_H
#define REPRISE_REFERENCE_INTERPRETER_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Reference/Tensor.h"
#include <optional>
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
llvm::FailureOr<std::vector<Tensor>> interpret(mlir::FunctionOpInterface entry,
                                               llvm::ArrayRef<Tensor> arguments);

/// A device program and its arguments.
struct ProgramCall {
  mlir::FunctionOpInterface program;
  std::vector<Tensor> arguments;
};

/// Runs device programs, one per device, that exchange values (TransferOpInterface), each on its
/// arguments, and returns the results of each, as `interpret` does for one function. They take
/// turns in their order: each runs until it waits or is done. With the seed of an order they take
/// turns by chance, of some ops each. No result depends on that order, since what one program
/// receives of another comes in the order in which it was sent.
///
/// Errors beside those of `interpret`: all programs that are left wait, where each is named with
/// what it waits for; a value of another type than the receiver's result; one that nobody receives.
llvm::FailureOr<std::vector<std::vector<Tensor>>>
interpretPrograms(llvm::ArrayRef<ProgramCall> calls, std::optional<uint64_t> order = std::nullopt);

/// Whether the machine could hold all of `types`, tensors of the dialect, at once, if nothing else
/// were there.
bool fitsMemory(mlir::TypeRange types);

/// Attaches ReferenceOpInterface to the ops of the dialect.
void registerReference(mlir::DialectRegistry &registry);

} // namespace reprise

#endif
