// reprise: composite ops as the chains that define them.
#ifndef REPRISE_DIALECT_REPRISE_IR_DECOMPOSE_H
#define REPRISE_DIALECT_REPRISE_IR_DECOMPOSE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Builds the chain that defines `op` before it, on operands in their compute types; each result is
/// rounded once. Returns a value for each result.
llvm::SmallVector<mlir::Value> buildDefinition(DecomposableOpInterface op);

} // namespace reprise

#endif
