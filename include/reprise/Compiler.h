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

/// The bytes that arena and workspace of a step may take together. One of the two is set.
struct Budget {
  std::optional<int64_t> bytes;
  /// A share of arena and workspace with every value saved, at the same target and threads.
  std::optional<double> share;
};

struct CompileOptions {
  PhaseOptions phases;
  /// The workers that a run may use; each has its own workspace. 0 is one per core.
  unsigned threads = 0;
  /// Where seconds come from. Target and threads are those of this compilation instead.
  CostSources costs;
  /// The last phase that the module has been through, as `reprise-opt --reprise-to` leaves it; none
  /// for a model. Behind `autodiff` it is taken at its word: who edits a module between phases
  /// checks it with buildVerifier (Phases.h).
  std::optional<Phase> after;
  /// Whether `phases.target` holds even if `plan` was made for another target.
  bool isTargetGiven = false;
  /// Of devices that are other than `phases.target`, by their numbers.
  std::map<int64_t, std::string> targets;
  /// Of devices whose rates come from other files than `costs.deviceFile`, by their numbers. The
  /// memory that a file names bounds arena, workspace, parameters, state and inputs there.
  std::map<int64_t, std::string> deviceFiles;
  /// For each device program. The cheapest plan that fits is taken; without one, the labels are
  /// followed exactly.
  std::optional<Budget> budget;
  /// Of the search for a plan; it ends with the best one so far. Without a limit, counted moves end
  /// it, and the same input gives the same plan.
  std::optional<double> timeLimitSeconds;
  /// Plans to carry out instead of the labels' (writePlans). With a budget it must fit; an
  /// estimate tells if it does not. Where the options leave threads, targets and the budget open,
  /// they are those that the plan was made for.
  const llvm::json::Value *plan = nullptr;
  std::string planPath = {}; ///< the file of `plan`, for messages; empty if it has none
  /// Whether CompiledProgram::plan is filled.
  bool keepPlan = false;
  /// Where no plan meets the budget: is given the least budget, in bytes, that one is known to
  /// meet.
  int64_t *leastBudget = nullptr;
  /// Nothing is compiled to code: the compilation's bundle stays empty.
  bool estimateOnly = false;
  /// Told where a long search has come to, such as "budget 3 of 12".
  std::function<void(const std::string &)> tell = {};
  /// Asked often, by several threads: once it says so, the compilation ends with an error.
  std::function<bool()> isCancelled;
};

/// What became of one device program.
struct CompiledProgram {
  std::string name; ///< of the function
  int64_t device = 0;
  /// Without the plan's part if `after` left no plan to read.
  Report report;
  /// The plan that was carried out; see CompileOptions::keepPlan.
  llvm::json::Object plan;
};

struct Compilation {
  runtime::Bundle bundle;                ///< of all programs
  std::vector<CompiledProgram> programs; ///< one per device, by its number; at least one
  /// Of a step that was cut into stages here, with one forward and one backward pass.
  std::optional<ReportedPipeline> pipeline;
};

/// The plans as one file, for `CompileOptions::plan`: that of the only program as it is, those of
/// several as {"version": 1, "programs": [{"program", "plan"}]}.
llvm::json::Object writePlans(const Compilation &compilation);

/// Prints the reports in the format of the file's name: .html, .txt, or else JSON. Those of several
/// programs are in one page, one text, or in JSON {"version": 1, "programs": [{"program",
/// "device_number", and the keys of a report}]}, with "pipeline" if there is one.
void printReports(llvm::raw_ostream &stream, llvm::StringRef path,
                  llvm::ArrayRef<CompiledProgram> programs,
                  const std::optional<ReportedPipeline> &pipeline = std::nullopt);

/// Prints what an estimate tells of each program, those of several below headings. Returns whether
/// all fit their budgets.
bool printEstimates(llvm::raw_ostream &stream, llvm::ArrayRef<CompiledProgram> programs);

/// Compiles `module`, which is consumed: afterwards it holds command lists. A model has one device
/// program, its entry; a module that has been through `autodiff` may have several, for devices 0,
/// 1, …, each of which gets its own plan and arena. Functions that are none are left alone. Its
/// context needs the dialects of registerAllDialects. Errors are emitted as diagnostics. The text
/// or bytecode that a module was parsed from must come from a trusted source or from
/// parseModelFile: stock MLIR dies on some hostile inputs.
mlir::FailureOr<Compilation> compile(mlir::ModuleOp module, const CompileOptions &options);

/// The memory/time curve of a model: {"version": 1, "save_all_bytes", "step_seconds", "points":
/// […], "policies": […]}. Points are plans, none of which takes both fewer bytes and less time, by
/// bytes; policies are what the built-in policies come to. The module, a model, stays as it is.
mlir::FailureOr<llvm::json::Object> findPareto(mlir::ModuleOp module,
                                               const CompileOptions &options);

/// Prints the curve in the format of the file's name: .html, or else JSON.
void printPareto(llvm::raw_ostream &stream, llvm::StringRef path, const llvm::json::Object &curve);

/// Runs the phases up to and with `to` on `module`.
mlir::LogicalResult runPhases(mlir::ModuleOp module, Phase to, const PhaseOptions &options);

/// The same behind the phase `from`. Device programs that come from elsewhere, from `autodiff`, are
/// checked first.
mlir::LogicalResult runPhases(mlir::ModuleOp module, std::optional<Phase> from, Phase to,
                              const PhaseOptions &options);

/// The phase that a module from a file has been through: `autodiff` if it holds device programs.
std::optional<Phase> findPhase(mlir::ModuleOp module);
/// Device programs that the module will have: 1 of a model.
size_t countPrograms(mlir::ModuleOp module);

/// What is wrong with the names that the options give, naming those that there are: a target, an
/// entry (if it `isEntryGiven`, not the usual one), policies; and options that device programs
/// leave nothing to do for. Empty if nothing is. Faults in files of rules and plugins are no matter
/// of names; they are told when policies are read.
std::string findWrongName(mlir::ModuleOp module, const PhaseOptions &options, bool isEntryGiven);

} // namespace reprise

#endif // REPRISE_COMPILER_H
