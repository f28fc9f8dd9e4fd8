// reprise: which tensors there may be, and how large they are.
#ifndef REPRISE_DIALECT_REPRISE_IR_SIZES_H
#define REPRISE_DIALECT_REPRISE_IR_SIZES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace reprise {

/// Whether `type` is a tensor that ops of the dialect take.
bool isModelTensor(mlir::Type type);

/// An error for a tensor, an argument or result of any op in `entry`, of more than 2^47 bytes,
/// which is more than a process can address: all later sums of sizes stay far from overflow.
llvm::LogicalResult checkSizes(mlir::FunctionOpInterface entry);

} // namespace reprise

#endif
