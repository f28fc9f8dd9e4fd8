// reprise: from offloads of the graph to copies to the host and back
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Replaces each `reprise.offload` that is no fetch by its operand: what remains are replays of
/// one, outside of loops, of values that ops of the function make.
void keepOnDevice(ProgramOp function);

/// Behind the formation of launches. A value is offloaded behind the command that makes it, and a
/// fetch becomes `exec.fetch`. While one byte goes over the link, the device moves `bytesBeside`
/// bytes: a wait for an offload stands behind so many bytes of launches, and behind the last reader
/// of the value; a fetch so many before its first reader.
void moveToHost(mlir::Block &block, int64_t bytesBeside);

/// Gives up what was gained in time: values are on the device as shortly as they can be. Returns
/// whether anything moved.
bool tightenHostMoves(mlir::Block &block);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTMOVES_H
