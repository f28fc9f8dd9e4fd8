// reprise: kinds of ops that several interfaces define together
#ifndef REPRISE_INTERFACES_KINDS_H
#define REPRISE_INTERFACES_KINDS_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// Returns true if the op computes or draws each element separately.
bool isElementwise(mlir::Operation *op);
/// Returns true if a loop over elements reads the op's operands, so that its kernel can compute
/// each operand element in registers.
bool takesFromRegisters(mlir::Operation *op);

/// Returns true if the op has a kernel of its own whose result may lie in the place of an operand
/// that dies.
bool overwritesOperand(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_INTERFACES_KINDS_H
