// reprise: places of values in the memory of the host
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Gives each offload of a device program its place, packed like the arena. `programs` is how many
/// are placed at a time. Errors: a packing that is wrong.
mlir::LogicalResult placeOnHost(ProgramOp program, int64_t programs);

/// Errors: an offload without a place, values of one place at one time, a place beyond the bytes
/// that the program has there.
mlir::LogicalResult verifyHostPlaces(ProgramOp program);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H
