// reprise: waits in front of backward passes, and launches that need not wait
#ifndef REPRISE_DIALECT_EXEC_IR_BACKWARDWAITS_H
#define REPRISE_DIALECT_EXEC_IR_BACKWARDWAITS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

inline constexpr llvm::StringLiteral kBackwardPassAttr = "exec.backward_pass";

/// Waits in front of the backward pass of a stage over a micro-batch.
struct BackwardWait {
  WaitOp first;
  int64_t stage = 0, microbatch = 0;
  /// Launches up to the next transfer that need no value of the awaited transfers, in order. The
  /// step returns none of their results.
  llvm::SmallVector<LaunchOp> early;
};

/// Marks the first wait of a backward pass.
void markBackwardPass(WaitOp wait, int64_t stage, int64_t microbatch);

/// Finds the marked waits of a program after the kernels phase, in program order.
std::vector<BackwardWait> findBackwardWaits(ProgramOp program);

/// Moves the first `count` early launches of a wait in front of it. Bits stay, since the launches
/// read the same values.
void moveEarly(const BackwardWait &wait, size_t count);

} // namespace reprise::exec

#endif // REPRISE_DIALECT_EXEC_IR_BACKWARDWAITS_H
