// reprise: places of values in host memory
#ifndef REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H
#define REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise::exec {

/// Gives each offload of a device program its place, packed like the arena. `programs` is the
/// number of programs that share the work limit. Fails if the packing is invalid.
mlir::LogicalResult placeOnHost(ProgramOp program, int64_t programs);

/// Fails for an offload without a place, values with overlapping places at one time, and a place
/// beyond the host bytes of the program.
mlir::LogicalResult verifyHostPlaces(ProgramOp program);

} // namespace reprise::exec

#endif // REPRISE_LIB_DIALECT_EXEC_TRANSFORMS_HOSTPLACES_H
