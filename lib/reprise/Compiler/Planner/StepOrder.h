// reprise: another order of the ops of a step
#ifndef REPRISE_COMPILER_STEPORDER_H
#define REPRISE_COMPILER_STEPORDER_H

#include "reprise/Dialect/Exec/Transforms/Launches.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Checkpoint/Problem/LaunchOrder.h"

namespace reprise {

/// An order of the ops of a step, without the terminator: their numbers in program order, in the
/// order in which they run. Empty for program order.
using OpOrder = std::vector<int>;

/// Tells whether the launches must stay in program order, because the step has loops, transfers,
/// events or library calls.
bool keepsOrder(ProgramOp step);

/// Returns the order of the ops for an order of the launches. The ops of a launch stay together,
/// and an op without a launch comes before its first reader.
OpOrder findOpOrder(ProgramOp step, const exec::LaunchNumbers &numbers,
                    const checkpoint::LaunchOrder &launches);

} // namespace reprise

#endif // REPRISE_COMPILER_STEPORDER_H
