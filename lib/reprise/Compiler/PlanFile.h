// reprise: plans as files
#ifndef REPRISE_COMPILER_PLANFILE_H
#define REPRISE_COMPILER_PLANFILE_H

#include "StepPlanner.h"
#include "llvm/Support/JSON.h"

namespace reprise {

/// The choices on the ops of `module`, which has been through `autodiff`, by the ids of their
/// values, and the hash of every op's signature: {"version": 1, "unrolled", "deferred",
/// "enough_arena", "ops": […], "values": [{"id", "choice"}]}. Without choices on the ops the labels
/// are followed: `values` is null.
llvm::json::Object writePlanFile(mlir::ModuleOp module, const PhaseOptions &phases);

/// Adds what the step went through before the plan was made: unrolled loops, a deferred gradient.
void readPhases(const llvm::json::Value &plan, PhaseOptions &phases);

/// Writes the plan's choices on the ops of `module`, which has been through `autodiff`, and returns
/// `enough_arena`. Errors: not a plan, or one of another graph, at the first op that differs.
mlir::FailureOr<int64_t> readPlanFile(mlir::ModuleOp module, const llvm::json::Value &plan);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANFILE_H
