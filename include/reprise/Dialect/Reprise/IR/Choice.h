// reprise: pads that their readers compute
#ifndef REPRISE_DIALECT_REPRISE_IR_CHOICE_H
#define REPRISE_DIALECT_REPRISE_IR_CHOICE_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// Returns true if the function returns the value only for the comparison of replays.
bool isExposure(mlir::OpOperand &use);

/// Returns true for a pad, such as the cotangent of a slice, whose readers are all elementwise ops:
/// they choose between its operand and the padding value.
bool isChoice(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_IR_CHOICE_H
