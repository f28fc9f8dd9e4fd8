// reprise: the names and roles of the entry function's arguments and results.
#ifndef REPRISE_DIALECT_REPRISE_TRANSFORMS_SIGNATURE_H
#define REPRISE_DIALECT_REPRISE_TRANSFORMS_SIGNATURE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// Fills in missing roles and names. Errors are:
/// - an argument that is no tensor of the dialect;
/// - a name that occurs twice or that a bundle cannot hold;
/// - a result with the name but not the type of an argument.
llvm::LogicalResult completeSignature(mlir::func::FuncOp entry);

} // namespace reprise

#endif
