// reprise: what a compilation tells of itself
#ifndef REPRISE_COMPILER_REPORT_H
#define REPRISE_COMPILER_REPORT_H

#include "StepPlanner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Compiler/CostModel.h"
#include "reprise/Runtime/Bundle.h"
#include "llvm/Support/JSON.h"

namespace reprise {

/// The plan of the checkpoint phase: totals, and one entry per value of the forward pass. Numbers
/// the values for `describeFusion`, and lets the kernels phase note what `describeCosts` asks for.
llvm::json::Object describePlan(mlir::func::FuncOp step, const CostModel &costs);

/// How a plan within a budget was found, and how far it can be from the cheapest one.
void describeBudget(const BudgetOutcome &outcome, llvm::json::Object &report);

/// The cost of a plan within a budget, as in "cost +2.31 % (bound +2.18 %, gap 0.13 points)"; empty
/// without one.
std::string readCost(const llvm::json::Object &report);

/// The values whose PREFER the budget overrides, largest first.
std::vector<const llvm::json::Object *> findOverridden(const llvm::json::Object &report);

/// After the kernels phase: a value is fused if neither its op nor a replay of it sends it to
/// memory, so that it lives in registers of kernels only.
void describeFusion(mlir::func::FuncOp step, llvm::json::Object &report);

/// After the kernels phase: the seconds of the step's launches by part, the device, and how far its
/// rates are from a profile.
void describeCosts(mlir::func::FuncOp step, const CostModel &costs, llvm::json::Object &report);

/// Adds what the bundle needs: arena, workspace, persistent bytes, commands. With `replay_checks`
/// the arena holds every replay and its original to the end of the step.
void describeBundle(const runtime::Bundle &bundle, llvm::json::Object &report);

/// What describeBundle does, for a step that is not compiled to code: `arena_bytes`,
/// `workspace_bytes` on so many workers, and `persistent_bytes`.
mlir::LogicalResult describeEstimate(mlir::func::FuncOp step, LaunchFacts &facts, unsigned threads,
                                     llvm::json::Object &report);

/// The buffers of the arena: name, first and last launch, offset and bytes.
llvm::json::Array describeTimeline(mlir::func::FuncOp step);

/// Seconds that all executions of the op take if nothing else is in their launches.
double countAloneSeconds(mlir::Operation *op, const CostModel &costs);

/// One kind of ops in the report's `model_error`.
struct ErrorRow {
  std::string kind;
  int64_t ops;
  double measured, modelled, relative;
};
/// The longest measured first.
std::vector<ErrorRow> listErrors(const llvm::json::Object &report);

/// The largest first; those of one size stay in their order.
void sortByBytes(std::vector<const llvm::json::Object *> &values);

/// The entries of the report's values, largest first.
std::vector<const llvm::json::Object *> valuesByBytes(const llvm::json::Object &report);

/// What was decided on a value, such as "replayed, fused".
std::string readDecision(const llvm::json::Object &value);

/// The values of one layer: what they keep, and what they cost again.
struct LayerSummary {
  std::string layer;
  std::vector<const llvm::json::Object *> values; ///< largest first
  int64_t savedBytes = 0, replayedBytes = 0;
  double replaySeconds = 0;
};
/// One per layer, in the order of the program.
std::vector<LayerSummary> summarizeLayers(const llvm::json::Object &report);

/// One self-contained page; a table for the terminal.
void printHtml(llvm::raw_ostream &stream, const llvm::json::Object &report);
void printParetoHtml(llvm::raw_ostream &stream, const llvm::json::Object &curve);
void printText(llvm::raw_ostream &stream, const llvm::json::Object &report);

} // namespace reprise

#endif // REPRISE_COMPILER_REPORT_H
