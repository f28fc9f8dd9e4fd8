// reprise: the number that distinguishes a replay from its original.
#ifndef REPRISE_DIALECT_REPRISE_IR_REPLAYNUMBER_H
#define REPRISE_DIALECT_REPRISE_IR_REPLAYNUMBER_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// Returns the inherent number of a replay; 0 for originals and ops of other dialects (see
/// `isReplay`).
int64_t getReplayNumber(mlir::Operation *op);

/// Sets the number of a replay; leaves ops of other dialects unchanged.
void setReplayNumber(mlir::Operation *op, int64_t number);

} // namespace reprise

#endif
