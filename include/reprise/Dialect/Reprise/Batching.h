// reprise: ops on parts of the batch
#ifndef REPRISE_DIALECT_REPRISE_BATCHING_H
#define REPRISE_DIALECT_REPRISE_BATCHING_H

#include "mlir/IR/Builders.h"
#include "reprise/Interfaces/Batchable.h"

namespace reprise {

/// Gives every op of the dialect its factors (BatchableOpInterface), but for those with regions.
void registerBatching(mlir::DialectRegistry &registry);

/// The op on parts of its operands: `factor` has `size` indices in them. The op's factors must
/// allow the cut. Windows of random draws stay as they are: a caller who cuts them moves their
/// origin.
mlir::Operation *cloneOnPart(mlir::OpBuilder &builder, mlir::Operation *op,
                             mlir::ValueRange operands, const OpFactors &factors, int factor,
                             int64_t size);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_BATCHING_H
