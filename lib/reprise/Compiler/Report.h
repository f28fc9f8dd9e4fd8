// reprise: construction and output of a report
#ifndef REPRISE_LIB_COMPILER_REPORT_H
#define REPRISE_LIB_COMPILER_REPORT_H

#include "Planner/ProgramPlanner.h"
#include "reprise/Compiler/Report.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Runtime/Bundle.h"
#include "reprise/Support/StableSort.h"

namespace reprise {

/// Describes the plan of the checkpoint phase. Numbers the values for `describeFusion`, and lets
/// the kernels phase record parts for `describeCosts`.
ReportedPlan describePlan(ProgramOp step, const CostModel &costs);

/// Describes the search for a plan within a budget, and its distance from the lower bound.
ReportedBudget describeBudget(const BudgetOutcome &outcome);

/// Sets, after the kernels phase, whether values are fused: neither the op nor a replay stores the
/// value, so that it exists only in registers of kernels.
void describeFusion(ProgramOp step, ReportedPlan &plan);

/// Describes, after the kernels phase and if there is a plan, the seconds of the step's launches by
/// part, the device, and the errors of its rates against a profile.
void describeCosts(ProgramOp step, const CostModel &costs, Report &report);

/// Describes the values that a program sends to other programs.
std::vector<ReportedTransfers> describeTransfers(ProgramOp step, const CostModel &costs);
/// Returns the sums over the transfers of each kind.
std::map<std::string, ReportedTransfers> sumByKind(const Report &report);

/// Parameters, state and inputs of a step, and its number.
int64_t countPersistentBytes(ProgramOp step);

/// Adds the bundle's bytes for the step of a device: arena, workspace, persistent bytes, and
/// commands. With replay checks the arena holds every replay and its original to the end of the
/// step.
void describeBundle(const runtime::Bundle &bundle, ProgramOp step, const Target &target,
                    Report &report);

/// Adds the same bytes as describeBundle for a step without code: arena, workspace of `threads`
/// workers, and persistent bytes.
mlir::LogicalResult describeEstimate(ProgramOp step, LaunchFacts &facts, unsigned threads,
                                     Report &report);

/// Describes the input of the compilation, for the heads of pages.
ReportedInputs describeInputs(mlir::ModuleOp module, const PhaseOptions &options);

/// Returns the launch at which the backward pass begins; none if there is only one pass.
std::optional<int64_t> findBackwardLaunch(ProgramOp step);

/// The buffers of the arena.
std::vector<ReportedBuffer> describeTimeline(ProgramOp step);

/// Prints a row of a text: "arena    11.6 KiB (11,844 bytes)".
void printBytes(llvm::raw_ostream &stream, llvm::StringRef name, int64_t bytes);
/// Prints rows with the bytes of a step: arena, workspace, both together, persistent bytes.
void printStepBytes(llvm::raw_ostream &stream, const Report &report);

/// Returns the cost of a plan within a budget, and the part that is not proven necessary; empty
/// without a budget.
std::string readCost(const Report &report);

/// Kinds of ops with their errors, the longest measured first.
std::vector<std::pair<std::string, KindError>> listErrors(const Report &report);

/// The largest first; entries of one size stay in their order.
template <typename T> void sortByBytes(std::vector<const T *> &entries) {
  sortStably(entries, [](const T *a, const T *b) { return a->bytes > b->bytes; });
}

/// Returns the values of the plan, largest first; none without a plan.
std::vector<const ReportedValue *> listValues(const Report &report);
/// Returns the values whose PREFER the budget overrides.
std::vector<const ReportedValue *> listOverridden(const Report &report);

/// Returns the decision about a value, such as "replayed, fused".
std::string readDecision(const ReportedValue &value);

/// Returns the reason of the decision, in a sentence.
std::string explainDecision(const ReportedValue &value);

/// The place of a value in the source as `file:line:column`, or its scope; empty if unknown.
std::string describePlace(const ReportedValue &value);

/// Values of one layer: their saved bytes, and the cost of their replays.
struct LayerSummary {
  std::string layer;
  std::vector<const ReportedValue *> values; ///< values, largest first
  int64_t savedBytes = 0, replayedBytes = 0;
  double replaySeconds = 0;
};
/// Returns one summary per layer, in the order of the program.
std::vector<LayerSummary> summarizeLayers(const Report &report);

/// Returns the heading of one of several programs.
std::string describeProgram(const CompiledProgram &program);

/// Pipeline of a step in stages, with the replays of the plans.
struct PlannedPipeline {
  pipeline::Schedule schedule;
  pipeline::Pipeline pipeline;
  std::vector<double> replays; ///< seconds per stage and micro-batch
};

/// Reads the pipeline of planned programs, in the order of their devices; none if their module does
/// not record how the step was cut.
std::optional<PlannedPipeline> readPipeline(mlir::ModuleOp module,
                                            llvm::ArrayRef<const CompiledProgram *> programs);

/// Describes the pipeline of planned programs. `hidden` has the seconds of replays that run while
/// their device waits, by stage and micro-batch; it may be empty.
std::optional<ReportedPipeline> describePipeline(mlir::ModuleOp module,
                                                 llvm::ArrayRef<CompiledProgram> programs,
                                                 bool isAuto,
                                                 std::vector<std::vector<double>> hidden);
void printPipelineText(llvm::raw_ostream &stream, const ReportedPipeline &pipeline);

/// Prints the page of `data` if `path` ends with .html, otherwise `data` itself.
void printAsPageOrJson(llvm::raw_ostream &stream, llvm::StringRef path, llvm::json::Value data);
/// Prints a report for the terminal.
void printText(llvm::raw_ostream &stream, const Report &report);

} // namespace reprise

#endif // REPRISE_LIB_COMPILER_REPORT_H
