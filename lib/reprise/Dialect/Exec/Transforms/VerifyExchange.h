// reprise: whether device programs that exchange values come to their ends
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYEXCHANGE_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_VERIFYEXCHANGE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// An error at a transfer that meets none, or one of another size, or that is waited for for ever.
/// A program that runs alone may exchange values with programs of other bundles.
mlir::LogicalResult verifyExchange(llvm::ArrayRef<ProgramOp> programs);

} // namespace reprise::exec

#endif
