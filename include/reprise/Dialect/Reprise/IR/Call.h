// reprise: calls of functions that the host registers
#ifndef REPRISE_DIALECT_REPRISE_IR_CALL_H
#define REPRISE_DIALECT_REPRISE_IR_CALL_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

#define GET_OP_CLASSES
#include "reprise/Dialect/Reprise/IR/CallOps.h.inc"

namespace reprise {

/// Returns the largest workspace in bytes of the calls in `program`: calls run one after the other.
int64_t findCallWorkspace(mlir::Operation *program);

} // namespace reprise

#endif
