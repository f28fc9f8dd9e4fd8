// reprise: how a report is filled and read
#ifndef REPRISE_LIB_COMPILER_REPORT_H
#define REPRISE_LIB_COMPILER_REPORT_H

#include "Planner/ProgramPlanner.h"
#include "reprise/Compiler/Report.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Runtime/Bundle.h"

namespace reprise {

/// The plan of the checkpoint phase. Numbers the values for `describeFusion`, and lets the kernels
/// phase note what `describeCosts` asks for.
ReportedPlan describePlan(ProgramOp step, const CostModel &costs);

/// How a plan within a budget was found, and how far it can be from the cheapest one.
ReportedBudget describeBudget(const BudgetOutcome &outcome);

/// After the kernels phase: a value is fused if neither its op nor a replay of it sends it to
/// memory, so that it lives in registers of kernels only.
void describeFusion(ProgramOp step, ReportedPlan &plan);

/// After the kernels phase, where there is a plan: the seconds of the step's launches by part, the
/// device, and how far its rates are from a profile.
void describeCosts(ProgramOp step, const CostModel &costs, Report &report);

/// Parameters, state and inputs of a step, and its number.
int64_t countPersistentBytes(ProgramOp step);

/// Adds what the bundle needs for the step of a device: arena, workspace, persistent bytes,
/// commands. With replay checks the arena holds every replay and its original to the end of the
/// step.
void describeBundle(const runtime::Bundle &bundle, ProgramOp step, const Target &target,
                    Report &report);

/// What describeBundle does, for a step that is not compiled to code: arena, workspace of so many
/// workers, and persistent bytes.
mlir::LogicalResult describeEstimate(ProgramOp step, LaunchFacts &facts, unsigned threads,
                                     Report &report);

/// What was compiled, for the heads of pages.
ReportedInputs describeInputs(mlir::ModuleOp module, const PhaseOptions &options);

/// The launch at which the backward pass begins; none if all is one pass.
std::optional<int64_t> findBackwardLaunch(ProgramOp step);

/// The buffers of the arena.
std::vector<ReportedBuffer> describeTimeline(ProgramOp step);

/// Prints a row of a text: "arena    11.6 KiB (11,844 bytes)".
void printBytes(llvm::raw_ostream &stream, llvm::StringRef name, int64_t bytes);
/// Prints rows with what a step takes: arena, workspace, both together, persistent bytes.
void printStepBytes(llvm::raw_ostream &stream, const Report &report);

/// The cost of a plan within a budget, and how much of it is not proven necessary; empty without
/// one.
std::string readCost(const Report &report);

/// Kinds of ops with their errors, the longest measured first.
std::vector<std::pair<std::string, KindError>> listErrors(const Report &report);

/// The largest first; entries of one size stay in their order.
template <typename T> void sortByBytes(std::vector<const T *> &entries) {
  llvm::stable_sort(entries, [](const T *a, const T *b) { return a->bytes > b->bytes; });
}

/// The values of the plan, the largest first; none without a plan.
std::vector<const ReportedValue *> listValues(const Report &report);
/// Those of them whose PREFER the budget overrides.
std::vector<const ReportedValue *> listOverridden(const Report &report);

/// What was decided on a value, such as "replayed, fused".
std::string readDecision(const ReportedValue &value);

/// Why the value is what it is, in a sentence.
std::string explainDecision(const ReportedValue &value);

/// The place of a value in the source as `file:line:column`, or its scope; empty if unknown.
std::string describePlace(const ReportedValue &value);

/// The values of one layer: what they keep, and what they cost again.
struct LayerSummary {
  std::string layer;
  std::vector<const ReportedValue *> values; ///< largest first
  int64_t savedBytes = 0, replayedBytes = 0;
  double replaySeconds = 0;
};
/// One per layer, in the order of the program.
std::vector<LayerSummary> summarizeLayers(const Report &report);

/// The figure of the arena in a page.
void printArenaHtml(llvm::raw_ostream &stream, const Report &report);

/// The heading of one of several programs.
std::string describeProgram(const CompiledProgram &program);

/// The pipeline of programs that were planned, in the order of their devices; none if their module
/// does not tell how the step was cut.
std::optional<ReportedPipeline>
describePipeline(mlir::ModuleOp module, llvm::ArrayRef<CompiledProgram> programs, bool isAuto);
void printPipelineHtml(llvm::raw_ostream &stream, const ReportedPipeline &pipeline);
void printPipelineText(llvm::raw_ostream &stream, const ReportedPipeline &pipeline);

/// One self-contained page; a table for the terminal.
void printHtml(llvm::raw_ostream &stream, llvm::ArrayRef<CompiledProgram> programs,
               const std::optional<ReportedPipeline> &pipeline);
void printParetoHtml(llvm::raw_ostream &stream, const llvm::json::Object &curve);
void printText(llvm::raw_ostream &stream, const Report &report);

} // namespace reprise

#endif // REPRISE_LIB_COMPILER_REPORT_H
