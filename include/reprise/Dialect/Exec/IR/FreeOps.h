// reprise: ops that are copied into the launches that read them
#ifndef REPRISE_DIALECT_EXEC_IR_FREEOPS_H
#define REPRISE_DIALECT_EXEC_IR_FREEOPS_H

#include "mlir/IR/Operation.h"

namespace reprise::exec {

/// True if the function returns the value for the comparison of replays only.
bool isExposure(mlir::OpOperand &use);

/// True for a pad, such as the cotangent of a slice, that elementwise ops alone read: they choose
/// between its operand and the value around it.
bool isChoice(mlir::Operation *op);

/// An op that no launch needs to store: views, iota and splat constants are
/// copied into the launches that read them.
bool isFree(mlir::Operation *op);

} // namespace reprise::exec

#endif
