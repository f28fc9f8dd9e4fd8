// reprise: plans as files
#ifndef REPRISE_COMPILER_PLANFILE_H
#define REPRISE_COMPILER_PLANFILE_H

#include "Planner/Plan.h"
#include "reprise/Compiler.h"
#include "llvm/Support/JSON.h"

namespace reprise {

/// Returns the plan of `step`, which has its form and its choices, by the ids of its values, and
/// the hash of every op's signature: {"version": 1, "unrolled", "unrolled_for_plan",
/// "bodies_recomputed", "bodies": […], "deferred", "enough_arena", "ops": […], "values": [{"id",
/// "choice"}], "executions": […]}. Without choices on the ops `values` is null, and the plan has
/// executions or follows the labels. `isUnrolledModel` tells that `autodiff` replaced the loops, as
/// the user asked for.
llvm::json::Object writePlanFile(ProgramOp step, const StepPlan &plan, bool isUnrolledModel);

/// Returns whether the plan is for a model whose loops `autodiff` replaced.
bool isOfUnrolledModel(const llvm::json::Value &plan);

/// Returns the plan of one of `count` programs in the plans of the options (writePlans). Errors: a
/// file of several plans for one program, or one plan for several programs; no plan of that name.
mlir::FailureOr<const llvm::json::Value *> findProgramPlan(mlir::ModuleOp module, ProgramOp program,
                                                           const CompileOptions &options,
                                                           size_t count);

/// The plans of all programs that are objects, by device; one in the file of one.
mlir::SmallVector<const llvm::json::Object *> listPlans(const llvm::json::Value &file);

/// Reads the plan of `step`, which has been through `autodiff` and receives the labels of the plan.
/// `path` is the file name for messages. Errors: no plan, or a plan of another graph, at the first
/// op that differs.
mlir::FailureOr<StepPlan> readPlanFile(ProgramOp step, const llvm::json::Value &plan,
                                       llvm::StringRef path);

/// Returns `executions` of a plan file; null if there are none.
llvm::json::Value writeExecutions(const std::vector<checkpoint::Execution> &executions);
/// Reads the executions of a plan for `formed`, the step in the form and order of the plan. Returns
/// what is wrong with the plan; empty for nothing.
std::string readExecutions(ProgramOp formed, const llvm::json::Array &list,
                           std::vector<checkpoint::Execution> &executions);

/// Returns whether the options in a plan have the required types.
bool haveGoodOptions(const llvm::json::Object &plan);
/// Returns the options; threads and targets that they do not set, and the units of parts of a model
/// that are replayed, are those of the plan.
CompileOptions takePlanOptions(CompileOptions options);
/// Adds the data that takePlanOptions and readBudget read.
void addOptions(llvm::json::Object &plan, const CompileOptions &options,
                std::optional<int64_t> budget);
/// Returns the budget of the plan in bytes, if the plan was made for these threads and this target.
std::optional<int64_t> readBudget(const llvm::json::Value &plan, const CompileOptions &options);

/// Returns the ids of the values of `step`, before it has its form, by label.
llvm::json::Object writeLabels(ProgramOp step);
/// Returns the blocks of the ops of `step`, before it has its form: runs of ops, each with its
/// number of ops and the blocks around them.
llvm::json::Array writeUnits(ProgramOp step);
/// Gives the values of `step` the labels of the plan, and its ops the blocks. A MUST of the step
/// stays; fails if it contradicts a plan that follows its labels.
mlir::LogicalResult takeLabels(ProgramOp step, const llvm::json::Object &plan);

} // namespace reprise

#endif // REPRISE_COMPILER_PLANFILE_H
