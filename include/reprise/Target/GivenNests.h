// reprise: launches whose kernels were written by hand
#ifndef REPRISE_TARGET_GIVENNESTS_H
#define REPRISE_TARGET_GIVENNESTS_H

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Nest/IR/Nest.h"
#include "reprise/Target/Target.h"

namespace reprise {

/// Returns the nests that a launch names in `exec.nests`, by the body of the launch. Null if the
/// launch names none, or if the nests finish the blocks of a contraction: only a target makes
/// those.
nests::NestProgramOp findGivenNests(mlir::Block &body);

/// Checks that the nests that a launch names, if any, read and store the values of the launch.
/// Nests of a contraction's blocks must be those that the target makes.
mlir::LogicalResult verifyGivenNests(exec::LaunchOp launch, const Target &target);

} // namespace reprise

#endif // REPRISE_TARGET_GIVENNESTS_H
