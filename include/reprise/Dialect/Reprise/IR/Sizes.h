// reprise: supported tensors and their sizes
#ifndef REPRISE_DIALECT_REPRISE_IR_SIZES_H
#define REPRISE_DIALECT_REPRISE_IR_SIZES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace reprise {

/// Returns whether `type` is a tensor type of the dialect's ops.
bool isModelTensor(mlir::Type type);

/// Emits an error for a tensor, an argument or result of any op in `entry`, of more than 2^47
/// bytes, the address space of a process. With this limit later sums of sizes do not overflow.
llvm::LogicalResult checkSizes(mlir::FunctionOpInterface entry);

} // namespace reprise

#endif
