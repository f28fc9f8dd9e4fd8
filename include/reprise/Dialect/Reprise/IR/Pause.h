// reprise: the point at which a step stops until the caller continues it
#ifndef REPRISE_DIALECT_REPRISE_IR_PAUSE_H
#define REPRISE_DIALECT_REPRISE_IR_PAUSE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/PauseOps.h.inc"

namespace reprise {

/// Returns the pause of a device program, or null.
PauseOp findPause(mlir::FunctionOpInterface program);

/// Fails, at the op, for a second pause in a device program, for a late value that is no input, and
/// for a late value that other ops read as well.
mlir::LogicalResult verifyPauses(mlir::FunctionOpInterface program);

} // namespace reprise

#endif
