// reprise: where a step stops until it is told to go on
#ifndef REPRISE_DIALECT_REPRISE_IR_PAUSE_H
#define REPRISE_DIALECT_REPRISE_IR_PAUSE_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/PauseOps.h.inc"

namespace reprise {

/// The pause of a device program, or null.
PauseOp findPause(mlir::FunctionOpInterface program);

/// Fails, at the op, on what a device program cannot have: a second pause, or a late value that is
/// no input, or one that other ops read, too.
mlir::LogicalResult verifyPauses(mlir::FunctionOpInterface program);

} // namespace reprise

#endif
