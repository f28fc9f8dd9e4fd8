// reprise: ops that are copied into the launches that read them
#ifndef REPRISE_DIALECT_EXEC_IR_FREEOPS_H
#define REPRISE_DIALECT_EXEC_IR_FREEOPS_H

#include "reprise/Dialect/Reprise/IR/Choice.h"

namespace reprise::exec {

/// Returns true for an op that no launch needs to store: views, iota and splat constants are copied
/// into the launches that read them.
bool isFree(mlir::Operation *op);

} // namespace reprise::exec

#endif
