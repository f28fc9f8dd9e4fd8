// reprise: calls of jax.checkpoint, found by the places of ops
#ifndef REPRISE_LIB_STABLEHLO_CHECKPOINTS_H
#define REPRISE_LIB_STABLEHLO_CHECKPOINTS_H

#include "mlir/IR/Operation.h"
#include <vector>

namespace reprise::stablehlo {

/// Ops that stand one after the other.
struct Run {
  bool isCheckpoint;
  std::vector<mlir::Operation *> ops;
};

/// Target of a custom call with which reprise.jax marks the begin of a call of jax.checkpoint.
inline constexpr llvm::StringLiteral kCallMark = "reprise.checkpoint";

/// Returns the ops of a block, except its terminator, in runs. JAX marks the ops of jax.checkpoint
/// by `checkpoint` in their name stacks, and prints one call after the other. Calls of one function
/// have the same places in the same order, by which they are separated.
std::vector<Run> splitAtCheckpoints(mlir::Block &block);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_CHECKPOINTS_H
