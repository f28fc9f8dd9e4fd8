// reprise: ops on parts of the batch
#ifndef REPRISE_DIALECT_REPRISE_BATCHING_H
#define REPRISE_DIALECT_REPRISE_BATCHING_H

#include "mlir/IR/Builders.h"
#include "reprise/Interfaces/Batchable.h"

namespace reprise {

/// Attaches BatchableOpInterface, the factors, to every op of the dialect except ops with regions.
void registerBatching(mlir::DialectRegistry &registry);

/// Clones the op for parts of its operands, in which `factor` has `size` indices. The op's factors
/// must allow the cut. Windows of random draws stay unchanged: a caller that cuts them moves their
/// origin.
mlir::Operation *cloneOnPart(mlir::OpBuilder &builder, mlir::Operation *op,
                             mlir::ValueRange operands, const OpFactors &factors, int factor,
                             int64_t size);

} // namespace reprise

#endif // REPRISE_DIALECT_REPRISE_BATCHING_H
