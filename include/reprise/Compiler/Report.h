// reprise: what a compilation tells of itself, as data; JSON, HTML and text print it
#ifndef REPRISE_COMPILER_REPORT_H
#define REPRISE_COMPILER_REPORT_H

#include "reprise/Costs/KindError.h"
#include "reprise/Planning/Checkpoint/Problem/PlanEnums.h"
#include "reprise/Planning/Pipeline/Problem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// A value of the forward pass, and what the plan does with it.
struct ReportedValue {
  std::string id, op;
  std::string name;       ///< what `reprise.name` calls it, several separated by commas; or empty
  std::string location;   ///< where the user's source has it
  std::string layer;      ///< its scope up to the last number; empty outside of layers
  int64_t bytes = 0;      ///< of all executions
  int64_t savedBytes = 0; ///< its part of the plan's
  checkpoint::Decision decision = checkpoint::Decision::NotNeeded;
  checkpoint::Reason why = checkpoint::Reason::NotRead;
  std::string reason; ///< the text of `why`, or the rule that gave the label
  checkpoint::ValueLabel label = checkpoint::ValueLabel::None;
  std::optional<std::string> rule; ///< none: nobody labelled it
  double replaySeconds = 0;        ///< of the cost model, alone in its kernel
  std::optional<bool> fused;       ///< no kernel sends it to memory; known after the kernels phase
};

/// A buffer of the arena.
struct ReportedBuffer {
  std::string name;
  int64_t first = 0, last = 0; ///< launches
  int64_t offset = 0, bytes = 0;
  std::string part; ///< whose op makes it: "forward", "backward", "replay", "scratch"; or unknown
};

/// What was compiled.
struct ReportedInputs {
  std::string model; ///< the name of the module, or of its file
  std::string entry;
  std::vector<std::string> policies; ///< those of --policy
  int64_t microbatches = 1;          ///< parts of the batch
  int64_t stages = 1;                ///< devices that the step is cut for
  std::string schedule;              ///< as it was asked for
  std::string compiler;              ///< Reprise and its version
};

/// Seconds of the cost model by what ops are for.
struct PartSeconds {
  double forward = 0, backward = 0, replay = 0;
};

/// What was decided on the values of the forward pass.
struct ReportedPlan {
  int64_t savedBytes = 0;  ///< what the backward pass and replays read of the forward pass
  int64_t replayedOps = 0; ///< executions of replays
  PartSeconds cost;
  std::vector<ReportedValue> values;
};

/// How a plan within a budget was found. Costs are those beyond the plan without a budget, as
/// fractions of its seconds.
struct ReportedSearch {
  int64_t saveAllBytes = 0;    ///< arena and workspace if every value were saved
  int64_t usualBytes = 0;      ///< the same of the plan without a budget
  int64_t predictedBytes = 0;  ///< the plan's, as packed by the planner
  int64_t overriddenBytes = 0; ///< of values whose PREFER is not obeyed
  int64_t rounds = 0;          ///< plans that were packed
  double costIncrease = 0;
  double bound = 0;                   ///< what every plan within the budget costs at least
  std::vector<checkpoint::Form> form; ///< what the plan changes of the step
  bool reordered = false;
  bool truncated = false; ///< the time limit ended the search
};

struct ReportedBudget {
  int64_t bytes = 0;                    ///< that arena and workspace may take
  std::optional<ReportedSearch> search; ///< none: the plan came from a file
};

/// Contractions that a library was asked for and does not do.
struct ReportedOwn {
  std::string op; ///< and its scope
  std::string why;
  int64_t launches = 0;
};

/// Bytes without another word are of the program as it was packed.
struct Report {
  ReportedInputs inputs;
  std::string target;                 ///< such as cpu:x86-64-v4
  std::string contractions = "exact"; ///< as Target::getContractions
  std::string device;                 ///< whose rates the cost model starts from
  unsigned threads = 0;
  int64_t arenaBytes = 0, workspaceBytes = 0;
  /// Arena and workspace together, which budgets bound and shares are of.
  int64_t stepBytes() const { return arenaBytes + workspaceBytes; }
  int64_t hostBytes = 0;                         ///< of what is offloaded, in the host's memory
  int64_t persistentBytes = 0;                   ///< parameters, state and inputs
  std::optional<int64_t> commands, replayChecks; ///< none: nothing was compiled to code
  std::optional<ReportedPlan> plan; ///< none: the module came without one that can be read
  std::optional<ReportedBudget> budget;
  /// With a budget or a plan from a file: what the plan costs beyond the one without a budget, as a
  /// fraction of its seconds.
  std::optional<double> costIncrease;
  std::map<std::string, KindError> modelError; ///< by kind; empty without a profile
  std::vector<ReportedBuffer> buffers;         ///< of the arena
  std::map<std::string, int64_t> libraryCalls; ///< launches by the function that computes them
  std::vector<ReportedOwn> ownContractions;    ///< of a target that asks libraries
  std::optional<int64_t> backwardLaunch;       ///< the first one without an op of the forward pass
};

/// A stage of a pipeline. Seconds are of the cost model, per micro-batch.
struct ReportedStage {
  int64_t device = 0;
  double forward = 0, backward = 0, weight = 0;
  double replay = 0; ///< of those of `backward`: the replays of the plan
};

/// What a device of a pipeline takes.
struct ReportedDevice {
  int64_t peakBytes = 0; ///< arena, workspace, parameters, state and inputs, as packed
  int64_t savedBytes = 0, replayedOps = 0;
};

/// A schedule that `--schedule=auto` weighed.
struct ReportedSchedule {
  std::string name;
  int64_t chunks = 1; ///< stages per device
  double makespan = 0;
  bool fits = true;
};

/// How the programs of a step that is cut into stages run beside each other, simulated with the
/// seconds of the cost model and the replays of the plans.
struct ReportedPipeline {
  std::string schedule;
  pipeline::Schedule pieces;
  pipeline::Simulation simulation; ///< with times if a page can show them
  std::vector<ReportedStage> stages;
  std::vector<ReportedDevice> devices;
  std::vector<ReportedSchedule> schedules; ///< with `auto`: all, the one that was taken first
};

/// One line: the schedule, its makespan and bubble, and what others would take.
std::string summarize(const ReportedPipeline &pipeline);

/// What `reprise-compile --report=F.json` writes of a pipeline.
llvm::json::Object toJson(const ReportedPipeline &pipeline);

/// What `reprise-compile --report=F.json` writes of one device program
/// (docs/reference/schemas/report.schema.json).
llvm::json::Object toJson(const Report &report);

/// Adds model, entry, given_policies and compiler.
void addInputs(const ReportedInputs &inputs, llvm::json::Object &object);

/// One line: what the step takes, keeps and computes again, and what that costs.
std::string summarize(const Report &report);

/// Prints what an estimate tells: arena, workspace, what is live at the peak. Returns whether the
/// step fits its budget.
bool printEstimate(llvm::raw_ostream &stream, const Report &report);

/// Tells the story of each value that has this id or name; false if there is none.
bool explainValue(llvm::raw_ostream &stream, llvm::StringRef wanted, const Report &report);
/// The id that `wanted` may have been meant to be; empty if none is near.
std::string findNearestValue(llvm::StringRef wanted, const Report &report);

} // namespace reprise

#endif // REPRISE_COMPILER_REPORT_H
