// reprise: the compiler as a library: from a model module to a bundle
#ifndef REPRISE_COMPILER_H
#define REPRISE_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Compiler/Report.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Pipelines/Phases.h"
#include "reprise/Runtime/Bundle.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <map>

namespace reprise {

/// Limit of the bytes of arena and workspace of a step together. Exactly one field is set.
struct Budget {
  std::optional<int64_t> bytes;
  /// Share of the arena and workspace with every value saved, at the same target and threads.
  std::optional<double> share;
};

struct CompileOptions {
  PhaseOptions phases;
  /// Number of workers that a run may use; each has its own workspace. 0 means one per core.
  unsigned threads = 0;
  /// Sources of seconds. Target and threads are those of this compilation instead.
  CostSources costs;
  /// Last phase that the module has been through, as `reprise-opt --reprise-to` leaves it; none for
  /// a model. Between `autodiff` and `memory` the module is trusted: a caller that edits it there
  /// checks it with buildVerifier (Phases.h). After `memory` the verifier of that phase runs first.
  std::optional<Phase> after;
  /// Tells whether the caller has run that verifier.
  bool isVerified = false;
  /// Tells whether `phases.target` holds even if `plan` was made for another target.
  bool isTargetGiven = false;
  /// Targets of devices that differ from `phases.target`, by device number.
  std::map<int64_t, std::string> targets;
  /// Device files of devices that differ from `costs.deviceFile`, by device number. If a file names
  /// a memory size, it bounds arena, workspace, parameters, state and inputs of that device.
  std::map<int64_t, std::string> deviceFiles;
  /// Budget of each device program. The search returns the cheapest plan that fits; without a
  /// budget, the plan follows the labels exactly.
  std::optional<Budget> budget;
  /// Time limit of the search for a plan, in seconds; at the limit the best plan so far is used.
  /// Without a limit, counted moves end the search, and the same input gives the same plan.
  std::optional<double> timeLimitSeconds;
  /// Plans to apply instead of the labels (writePlans). If there is a budget, the plan must fit; an
  /// estimate reports a plan that does not fit. Threads, targets and budget default to those of the
  /// plan.
  const llvm::json::Value *plan = nullptr;
  std::string planPath = {}; ///< file of `plan`, for messages; may be empty
  /// Tells whether CompiledProgram::plan is filled.
  bool keepPlan = false;
  /// Output for a budget that no plan meets: the smallest budget, in bytes, for which a plan was
  /// found.
  int64_t *leastBudget = nullptr;
  /// Tells whether code generation is left out: the compilation's bundle stays empty.
  bool estimateOnly = false;
  /// Receives the progress of a long search, such as "budget 3 of 12".
  std::function<void(const std::string &)> tell = {};
  /// Returns whether to cancel. Several threads call it often; after true the compilation ends with
  /// an error.
  std::function<bool()> isCancelled;
};

/// Result for one device program.
struct CompiledProgram {
  std::string name; ///< name of the function
  int64_t device = 0;
  /// Report; without its plan part if `after` left no plan to read.
  Report report;
  /// Plan that was applied; see CompileOptions::keepPlan.
  llvm::json::Object plan;
};

struct Compilation {
  runtime::Bundle bundle;                ///< bundle of all programs
  std::vector<CompiledProgram> programs; ///< programs by device number; at least one
  /// Pipeline of a step that this compilation cut into stages, with one forward and one backward
  /// pass.
  std::optional<ReportedPipeline> pipeline;
};

/// Returns the plans as one file, for `CompileOptions::plan`. A single program's plan is the file;
/// several plans are {"version": 1, "programs": [{"program", "plan"}]}.
llvm::json::Object writePlans(const Compilation &compilation);

/// Prints the reports in the format of the file name: .html, .txt, or otherwise JSON. Reports of
/// several programs form one page, one text, or in JSON {"version": 1, "programs": [{"program",
/// "device_number", and the keys of a report}]}, with "pipeline" if there is one.
void printReports(llvm::raw_ostream &stream, llvm::StringRef path,
                  llvm::ArrayRef<CompiledProgram> programs,
                  const std::optional<ReportedPipeline> &pipeline = std::nullopt);

/// Prints the estimate of each program; estimates of several programs get headings. Returns whether
/// all programs fit their budgets.
bool printEstimates(llvm::raw_ostream &stream, llvm::ArrayRef<CompiledProgram> programs);

/// Compiles `module`, which is consumed: afterwards it holds command lists. Errors are emitted as
/// diagnostics.
///
/// - A model has one device program, its entry. A module that has been through `autodiff` may have
///   several, for devices 0, 1, …; each gets its own plan and arena. Functions that are not device
///   programs stay unchanged.
/// - The context needs the dialects of registerAllDialects.
/// - The text or bytecode of a module must come from a trusted source or from parseModelFile: stock
///   MLIR crashes on some hostile inputs.
mlir::FailureOr<Compilation> compile(mlir::ModuleOp module, const CompileOptions &options);

/// Computes the memory/time curve of a model: {"version": 1, "save_all_bytes", "step_seconds",
/// "points": […], "policies": […]}. Points are plans by bytes, none of which is better than another
/// in both bytes and time. Policies are the results of the built-in policies. Leaves the module, a
/// model, unchanged.
mlir::FailureOr<llvm::json::Object> findPareto(mlir::ModuleOp module,
                                               const CompileOptions &options);

/// Prints the curve in the format of the file name: .html, or otherwise JSON.
void printPareto(llvm::raw_ostream &stream, llvm::StringRef path, const llvm::json::Object &curve);

/// Runs the phases up to and with `to` on `module`.
mlir::LogicalResult runPhases(mlir::ModuleOp module, Phase to, const PhaseOptions &options);

/// Runs the phases after `from`, up to and with `to`. If `from` is `autodiff`, the device programs
/// are verified first.
mlir::LogicalResult runPhases(mlir::ModuleOp module, std::optional<Phase> from, Phase to,
                              const PhaseOptions &options);

/// Returns the phase that a module from a file has been through: `autodiff` if it holds device
/// programs, `kernels` if these hold launches, `memory` if the launches have places.
std::optional<Phase> findPhase(mlir::ModuleOp module);
/// Returns the number of device programs that the module will have: 1 for a model.
size_t countPrograms(mlir::ModuleOp module);

/// Returns an error about the first unknown name in the options, with the names that exist, or an
/// empty string. Checks the target, the entry (only if `isEntryGiven`), the policies, and options
/// that have no effect on device programs. Faults in rule files and plugins are reported later,
/// when policies are read.
std::string findWrongName(mlir::ModuleOp module, const PhaseOptions &options, bool isEntryGiven);

} // namespace reprise

#endif // REPRISE_COMPILER_H
