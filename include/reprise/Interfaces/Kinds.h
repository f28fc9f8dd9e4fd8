// reprise: kinds of ops that more than one interface tells
#ifndef REPRISE_INTERFACES_KINDS_H
#define REPRISE_INTERFACES_KINDS_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// True if the op computes or draws each element for itself.
bool isElementwise(mlir::Operation *op);

} // namespace reprise

#endif // REPRISE_INTERFACES_KINDS_H
