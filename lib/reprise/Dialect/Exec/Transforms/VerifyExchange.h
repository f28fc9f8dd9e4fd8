// reprise: deadlocks between device programs that exchange values
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYEXCHANGE_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYEXCHANGE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Fails at a transfer without a partner, at partners of different sizes, and at a deadlock. A
/// program that runs alone may exchange values with programs of other bundles.
mlir::LogicalResult verifyExchange(llvm::ArrayRef<ProgramOp> programs);

} // namespace reprise::exec

#endif
