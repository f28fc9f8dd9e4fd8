// reprise: plans as files
#ifndef REPRISE_COMPILER_PLANFILE_H
#define REPRISE_COMPILER_PLANFILE_H

#include "StepPlanner.h"
#include "llvm/Support/JSON.h"

namespace reprise {

/// The plan of `step`, which has its form and its choices, by the ids of its values, and the hash
/// of every op's signature: {"version": 1, "unrolled", "unrolled_for_plan", "bodies_recomputed",
/// "bodies": […], "deferred", "enough_arena", "ops": […], "values": [{"id", "choice"}]}. Without
/// choices on the ops the labels are followed: `values` is null. `isUnrolledModel` tells that
/// `autodiff` replaced the loops, as the user asked for.
llvm::json::Object writePlanFile(mlir::func::FuncOp step, const StepPlan &plan,
                                 bool isUnrolledModel);

/// Whether the plan is one of a model whose loops `autodiff` replaced.
bool isOfUnrolledModel(const llvm::json::Value &plan);

/// The plan of one of `count` programs in the plans of the options (writePlans). Errors: a file of
/// several plans for one program, or the other way round; no plan of that name.
mlir::FailureOr<const llvm::json::Value *> findProgramPlan(mlir::ModuleOp module,
                                                           mlir::func::FuncOp program,
                                                           const CompileOptions &options,
                                                           size_t count);

/// The plan of `step`, which has been through `autodiff` and stays as it is. `path` is that of the
/// file, for messages. Errors: not a plan, or one of another graph, at the first op that differs.
mlir::FailureOr<StepPlan> readPlanFile(mlir::func::FuncOp step, const llvm::json::Value &plan,
                                       llvm::StringRef path);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANFILE_H
