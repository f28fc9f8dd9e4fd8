// reprise: from offloads of the graph to copies to the host and back
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Replaces each `reprise.offload` that is no fetch by its operand. The remaining offloads are
/// fetches, outside of loops, of values that ops of the function compute.
void keepOnDevice(ProgramOp function);

/// Inserts copies to the host and back, after launches are formed. A value is offloaded behind the
/// command that computes it, and a fetch becomes `exec.fetch`. While one byte crosses the link, the
/// device moves `bytesBeside` bytes in its memory. A wait for an offload therefore stands behind
/// that many bytes of launches, and behind the last reader of the value; a fetch stands that many
/// bytes before its first reader.
void moveToHost(mlir::Block &block, int64_t bytesBeside);

/// Returns a lower bound of the bytes that a launch or loop moves; 0 for other ops.
int64_t countMovedBytes(mlir::Operation *op);

/// Moves offloads and fetches so that values are on the device as briefly as possible, at the cost
/// of time. Returns whether any op moved.
bool tightenHostMoves(mlir::Block &block);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H
