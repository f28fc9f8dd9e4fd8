// reprise: the number that makes a replay another op than its original.
#ifndef REPRISE_DIALECT_REPRISE_IR_REPLAYNUMBER_H
#define REPRISE_DIALECT_REPRISE_IR_REPLAYNUMBER_H

#include "mlir/IR/Operation.h"

namespace reprise {

/// The inherent number of a replay; 0 for originals and ops of other dialects (see `isReplay`).
int64_t getReplayNumber(mlir::Operation *op);

/// Sets it; ops of other dialects stay as they are.
void setReplayNumber(mlir::Operation *op, int64_t number);

} // namespace reprise

#endif
