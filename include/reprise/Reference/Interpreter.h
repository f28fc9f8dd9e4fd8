// reprise: the reference interpreter: slow and obvious, the judge of the code generator.
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
/// The function may be in any phase up to `checkpoint`. Calls are followed; blocks and checkpoints
/// are executed; operands of elementwise ops may broadcast. A value is freed after its last use.
/// Errors are reported at the op: a `value_and_grad` (autodiff expands it), a random op without a
/// seed (before the `random` phase), a recursive call, an op without a ReferenceOpInterface.
llvm::FailureOr<std::vector<Tensor>> interpret(mlir::FunctionOpInterface entry,
                                               llvm::ArrayRef<Tensor> arguments);

/// Device program and its arguments.
struct ProgramCall {
  mlir::FunctionOpInterface program;
  std::vector<Tensor> arguments;
};

/// Runs device programs, one per device, that exchange values (TransferOpInterface), each on its
/// arguments, and returns the results of each, as `interpret` does for one function. The programs
/// take turns in their order: each runs until it waits or is done. If `order` gives a seed, turns
/// are random and last some ops each. Results do not depend on the order, since values arrive in
/// the order in which their sender sent them.
///
/// Errors in addition to those of `interpret`:
/// - all remaining programs wait; the message names each program and its transfer
/// - a value has another type than the receiver's result
/// - no program receives a value
llvm::FailureOr<std::vector<std::vector<Tensor>>>
interpretPrograms(llvm::ArrayRef<ProgramCall> calls, std::optional<uint64_t> order = std::nullopt);

/// Returns whether the machine's memory could hold all of `types`, tensors of the dialect, if it
/// were empty.
bool fitsMemory(mlir::TypeRange types);

/// Attaches ReferenceOpInterface to the ops of the dialect.
void registerReference(mlir::DialectRegistry &registry);

} // namespace reprise

#endif
