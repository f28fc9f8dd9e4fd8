// reprise: purposes of the transfers between the pieces of a step
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERKINDS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERKINDS_H

#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/Transfers.h"

namespace reprise::pipe {

/// Moves the purpose of transfers of an op to its piece. A sum over samples sends summands.
void takeTransfer(mlir::Operation *op, PieceOp piece);

/// Returns the purpose of the transfer of a value to the device of the piece `reader`, which is
/// null for a reader that is no piece. A value that crosses replicas of a step without parts of the
/// model is a summand, unless its readers join it.
TransferPurpose findTransfer(ProgramOp step, mlir::Value value, PieceOp reader,
                             bool crossesReplicas);

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERKINDS_H
