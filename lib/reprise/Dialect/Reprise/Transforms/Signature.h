// reprise: the names and roles of the entry function's arguments and results.
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_SIGNATURE_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_SIGNATURE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Fills in missing roles and names. An error for arguments that are no tensors of the dialect, for
/// names that occur twice or that a bundle cannot hold, and for a result that carries an argument's
/// name but not its type.
llvm::LogicalResult completeSignature(mlir::func::FuncOp entry);

} // namespace reprise

#endif
