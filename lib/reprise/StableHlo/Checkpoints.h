// reprise: where jax.checkpoint was, told from the places of ops
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

/// The target of a custom call by which reprise.jax says that a call of jax.checkpoint begins.
inline constexpr llvm::StringLiteral kCallMark = "reprise.checkpoint";

/// The ops of a block but its terminator. JAX marks the ops of jax.checkpoint by `checkpoint` in
/// their name stacks, and prints them one call after the other. Calls of one function have the same
/// places in the same order, by which they are told from each other.
std::vector<Run> splitAtCheckpoints(mlir::Block &block);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_CHECKPOINTS_H
