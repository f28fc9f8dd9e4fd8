// reprise: the report of a compilation as data; JSON, HTML and text print it
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

/// Value of the forward pass, and its treatment by the plan.
struct ReportedValue {
  std::string id, op;
  /// `reprise.name` of the value; several names separated by commas; may be empty.
  std::string name;
  std::string location;   ///< place in the user's source
  std::string layer;      ///< scope up to its last number; empty outside of layers
  int64_t bytes = 0;      ///< bytes of all executions
  int64_t savedBytes = 0; ///< its part of the plan's saved bytes
  checkpoint::Decision decision = checkpoint::Decision::NotNeeded;
  checkpoint::Reason why = checkpoint::Reason::NotRead;
  std::string reason; ///< the text of `why`, or the rule that gave the label
  checkpoint::ValueLabel label = checkpoint::ValueLabel::None;
  std::optional<std::string> rule; ///< rule; none if no rule labelled the value
  double replaySeconds = 0;        ///< cost model seconds, alone in its own kernel
  /// Tells whether no kernel writes it to memory; known after the kernels phase.
  std::optional<bool> fused;
};

/// Buffer of the arena.
struct ReportedBuffer {
  std::string name;
  int64_t first = 0, last = 0; ///< launches
  int64_t offset = 0, bytes = 0;
  /// Part of the step whose op writes it: "forward", "backward", "replay" or "scratch"; empty if
  /// unknown.
  std::string part;
};

/// Input of a compilation.
struct ReportedInputs {
  std::string model; ///< name of the module, or of its file
  std::string entry;
  std::vector<std::string> policies; ///< policies of --policy
  int64_t microbatches = 1;          ///< parts of the batch
  int64_t lanes = 1;                 ///< chains of micro-batches in sums over the batch
  int64_t stages = 1;                ///< number of devices that the step is cut for
  int64_t replicas = 1;              ///< replicas of these devices
  int64_t modelParts = 1;            ///< parts of the model, for each of these devices
  int64_t modelLanes = 1;            ///< lanes of contractions whose terms are cut
  std::string schedule;              ///< schedule, as given by the user
  std::string compiler;              ///< Reprise and its version
  /// Units of the parts of the model that a budget replays, with their exchanges, in percent.
  int64_t replayedPercent = 0;
};

/// Transfers of one purpose and value to other devices.
struct ReportedTransfers {
  std::string kind;  ///< gather, sum, exchange or send
  std::string part;  ///< part of the step that reads the value; empty if several do
  std::string value; ///< op and scope that compute the value, or name of an argument
  std::optional<int64_t> dim;
  int64_t count = 0, bytes = 0; ///< transfers of a step, and their bytes
  double seconds = 0;           ///< one after the other, by the rates of links
};

/// Seconds of the cost model per part of the step.
struct PartSeconds {
  double forward = 0, backward = 0, replay = 0;
};

/// Decisions about the values of the forward pass.
struct ReportedPlan {
  int64_t savedBytes = 0;  ///< bytes of the forward pass that the backward pass and replays read
  int64_t replayedOps = 0; ///< executions of replays
  PartSeconds cost;
  std::vector<ReportedValue> values;
};

/// Search for a plan within a budget. Costs are fractions of the seconds of the plan without a
/// budget, beyond that plan.
struct ReportedSearch {
  int64_t saveAllBytes = 0;   ///< arena and workspace if every value were saved
  int64_t usualBytes = 0;     ///< arena and workspace of the plan without a budget
  int64_t predictedBytes = 0; ///< arena and workspace of the plan, as the planner packed it
  /// Bytes of values with a PREFER label that the plan does not follow.
  int64_t overriddenBytes = 0;
  int64_t rounds = 0; ///< plans that were packed
  double costIncrease = 0;
  double bound = 0;                   ///< lower bound of the cost of every plan within the budget
  std::vector<checkpoint::Form> form; ///< changes of the step by the plan
  bool reordered = false;
  bool truncated = false; ///< whether the time limit ended the search
};

struct ReportedBudget {
  int64_t bytes = 0;                    ///< limit of arena and workspace
  std::optional<ReportedSearch> search; ///< none: the plan came from a file
};

/// Contraction for which a library was requested, but which no library computes.
struct ReportedOwn {
  std::string op; ///< name of the op and its scope
  std::string why;
  int64_t launches = 0;
};

/// Calls of one function that the host registers.
struct ReportedCall {
  int64_t launches = 0;
  double seconds = 0; ///< price of a call
  int64_t workspaceBytes = 0;
};

/// Report of one device program. Bytes are those of the packed program unless noted otherwise.
struct Report {
  ReportedInputs inputs;
  std::string target;                 ///< such as cpu:x86-64-v4
  std::string contractions = "exact"; ///< name of the target's arithmetic
  std::string device;                 ///< device whose rates the cost model uses
  unsigned threads = 0;
  int64_t arenaBytes = 0, workspaceBytes = 0;
  /// Returns the bytes of arena and workspace together, which budgets and shares refer to.
  int64_t stepBytes() const { return arenaBytes + workspaceBytes; }
  int64_t hostBytes = 0;                         ///< offloaded bytes in host memory
  int64_t persistentBytes = 0;                   ///< parameters, state and inputs
  std::optional<int64_t> commands, replayChecks; ///< none if no code was generated
  std::optional<ReportedPlan> plan; ///< none if the module came without a readable plan
  std::optional<ReportedBudget> budget;
  /// Cost of the plan beyond the plan without a budget, as a fraction of its seconds. Set with a
  /// budget or a plan from a file.
  std::optional<double> costIncrease;
  std::map<std::string, KindError> modelError;   ///< by kind; empty without a profile
  std::vector<ReportedBuffer> buffers;           ///< buffers of the arena
  std::vector<ReportedTransfers> transfers;      ///< sent values, in the order of the first of each
  std::map<std::string, int64_t> libraryCalls;   ///< number of launches per library function
  std::vector<ReportedOwn> ownContractions;      ///< empty for a target without libraries
  std::map<std::string, ReportedCall> hostCalls; ///< calls by callee
  std::optional<int64_t> backwardLaunch;         ///< first launch without an op of the forward pass
};

/// Stage of a pipeline. Seconds are of the cost model, per micro-batch.
struct ReportedStage {
  int64_t device = 0;
  double forward = 0, backward = 0, weight = 0;
  double replay = 0; ///< part of `backward` that is replays of the plan
  double hidden = 0; ///< part of `replay` that runs while the device waits for the backward pass
};

/// Bytes and replays of a device of a pipeline.
struct ReportedDevice {
  int64_t peakBytes = 0; ///< arena, workspace, parameters, state and inputs, as packed
  int64_t savedBytes = 0, replayedOps = 0;
};

/// Schedule that `--schedule=auto` considered.
struct ReportedSchedule {
  std::string name;
  int64_t chunks = 1; ///< stages per device
  double makespan = 0;
  bool fits = true;
};

/// Simulation of the programs of a step that is cut into stages, with the seconds of the cost model
/// and the replays of the plans.
struct ReportedPipeline {
  std::string schedule;
  pipeline::Schedule pieces;
  pipeline::Simulation simulation; ///< with times if the schedule is small enough for a page
  std::vector<ReportedStage> stages;
  std::vector<ReportedDevice> devices;     ///< devices of all replicas
  std::vector<ReportedSchedule> schedules; ///< with `auto`: all schedules, the chosen one first

  int64_t countReplicas() const {
    return static_cast<int64_t>(devices.size()) / pieces.shape.ranks;
  }
};

/// Returns one line: the schedule, its makespan and bubble, and the makespans of other schedules.
std::string summarize(const ReportedPipeline &pipeline);

/// Returns the pipeline part of `reprise-compile --report=F.json`.
llvm::json::Object toJson(const ReportedPipeline &pipeline);

/// Returns the report of one device program as `reprise-compile --report=F.json` writes it
/// (docs/reference/schemas/report.schema.json).
llvm::json::Object toJson(const Report &report);

/// Adds model, entry, given_policies and compiler.
void addInputs(const ReportedInputs &inputs, llvm::json::Object &object);

/// Returns one line: bytes of the step, saved bytes, replays, and their cost.
std::string summarize(const Report &report);

/// Prints the estimate: arena, workspace, live buffers at the peak. Returns whether the step fits
/// its budget.
bool printEstimate(llvm::raw_ostream &stream, const Report &report);

/// Prints the decision about each value with this id or name; returns false if there is none.
bool explainValue(llvm::raw_ostream &stream, llvm::StringRef wanted, const Report &report);
/// Returns the id that is most similar to `wanted`; empty if none is similar.
std::string findNearestValue(llvm::StringRef wanted, const Report &report);

} // namespace reprise

#endif // REPRISE_COMPILER_REPORT_H
