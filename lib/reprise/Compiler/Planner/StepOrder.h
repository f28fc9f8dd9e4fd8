// reprise: another order of the ops of a step
#ifndef REPRISE_COMPILER_STEPORDER_H
#define REPRISE_COMPILER_STEPORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Dialect/Exec/Transforms/Launches.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise {

/// The ops of a step's block but its terminator, by their numbers in program order, in another
/// order; empty for program order.
using OpOrder = std::vector<int>;

/// Whether launches stay in their order: beside loops, transfers, events and library calls.
bool keepsOrder(mlir::func::FuncOp step);

/// The order of ops whose launches run in that order: those of one launch stay together, and those
/// without a launch come before their first reader.
OpOrder findOpOrder(mlir::func::FuncOp step, const exec::LaunchNumbers &numbers,
                    const checkpoint::LaunchOrder &launches);

} // namespace reprise

#endif // REPRISE_COMPILER_STEPORDER_H
