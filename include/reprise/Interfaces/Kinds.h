// reprise: kinds of ops that more than one interface tells
#ifndef REPRISE_INTERFACES_KINDS_H
#define REPRISE_INTERFACES_KINDS_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// True if the op computes or draws each element for itself.
bool isElementwise(mlir::Operation *op);
/// True if a loop over elements reads the op's operands: its kernel can make each one in registers.
bool takesFromRegisters(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_INTERFACES_KINDS_H
