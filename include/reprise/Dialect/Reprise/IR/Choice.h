// reprise: pads that their readers compute
#ifndef REPRISE_DIALECT_REPRISE_IR_CHOICE_H
#define REPRISE_DIALECT_REPRISE_IR_CHOICE_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// True if the function returns the value for the comparison of replays only.
bool isExposure(mlir::OpOperand &use);

/// True for a pad, such as the cotangent of a slice, that elementwise ops alone read: they choose
/// between its operand and the value around it.
bool isChoice(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_CHOICE_H
