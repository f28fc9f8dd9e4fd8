// reprise: the phases of compilation and their order, known only to this file.
#ifndef REPRISE_PIPELINES_PHASES_H
#define REPRISE_PIPELINES_PHASES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace reprise {
class LaunchFacts;
namespace pipe {
struct StageInputs;
} // namespace pipe

/// Phase of the compilation, which ends in a verifier of its promises. Phases up to `autodiff` work
/// on a module. From `partition` on they work on each device program (ProgramOp) separately, and
/// leave functions unchanged.
enum class Phase {
  Import,     ///< one entry function, calls inlined, streams numbered, broadcasts explicit
  Random,     ///< Philox seed and offset threaded: every op is pure
  Label,      ///< policies evaluated, blocks flattened
  Autodiff,   ///< value_and_grad expanded into dialect ops
  Partition,  ///< the batch cut into micro-batches, the step into stages
  Checkpoint, ///< plans applied; saved and replayed values chosen, replays inserted
  Kernels,    ///< ops grouped into launches
  Memory,     ///< every buffer has an offset
};

/// Largest number of devices of a pipeline.
inline constexpr int64_t kMostDevices = 1024;

/// Options by which `partition` cuts a step for several devices (docs/explanation/Stages.md).
struct StageOptions {
  int64_t devices = 1;            ///< devices of one replica, each with its stages
  int64_t replicas = 1;           ///< replicas of the devices, which share the micro-batches
  int64_t modelParts = 1;         ///< parts of the model, which divide the lanes of ModelOptions
  int64_t leastPart = 1024;       ///< bytes of the smallest part of an array on a replica
  std::vector<std::string> begin; ///< scopes at which stages begin; empty: balanced
  /// Schedule or auto; empty: 1f1b, or gpipe for gradients of gradients.
  std::string schedule;
  std::string gathers;    ///< arrays gathered from replicas: saved or replayed; empty: by the plan
  std::string checkpoint; ///< always, except-last or never; empty: by the labels
  /// Units of the parts of a model that are replayed for a budget, in percent.
  int64_t replayedPercent = 0;
  /// Stages per device, or the nearest number that the schedule allows.
  int64_t chunks = 1;
  /// Devices and refused cuts (Dialect/Pipe/Transforms/StageInputs.h); null: devices with built-in
  /// rates.
  std::shared_ptr<const pipe::StageInputs> inputs;

  /// Returns the number of device programs; 1 leaves the step on one device.
  int64_t countPrograms() const { return devices * replicas * modelParts; }
};

/// Options of the model axis (docs/explanation/ModelAxis.md).
struct ModelOptions {
  int64_t lanes = 1; ///< lanes of contractions whose terms are cut: a power of two
  /// File with the shardings of arguments; empty: the module has them.
  std::string shards;
};

/// Options of the phases.
struct PhaseOptions {
  std::string entry = "train";
  std::vector<std::string> policies;
  bool allowUnmatchedRules = false;   ///< if true, a rule without a match is a warning
  std::string target = "cpu";         ///< target, as Target::get reads it (Target/Target.h)
  std::shared_ptr<LaunchFacts> facts; ///< facts of the target, shared by several programs
  bool ignoreCheckpoints = false;
  int64_t microbatches = 1; ///< parts of the batch; 1 does not cut the batch
  int64_t lanes = 1; ///< chains of micro-batches whose sums meet in a tree; divides their number
  StageOptions stages;
  ModelOptions model;
  /// Tells whether `autodiff` replaces loops by iterations, which labels distinguish.
  bool unroll = false;
  /// Tells whether `import` compares the module's `shard.grid` with `stages`.
  bool checksGrid = false;
  /// Tells whether replays and originals live to the end of the step for comparison.
  bool verifyReplays = false;
};

std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef phaseName(Phase phase);
/// Returns the names of all phases, in order.
llvm::ArrayRef<llvm::StringLiteral> listPhases();
/// Returns the phase of a pass, by its argument; none for a pass of several phases.
std::optional<Phase> phaseOfPass(llvm::StringRef pass);

/// Appends the passes of the phases after `from` (or from the start) up to and with `to`, for a
/// module. All device programs get the same passes.
void buildPhases(mlir::OpPassManager &manager, std::optional<Phase> from, Phase to,
                 const PhaseOptions &options);

/// Appends the passes that make the flat step from which a cut into stages takes its seconds and
/// bytes: the batch in micro-batches and the model in parts, before there are stages. The module
/// has been through `autodiff` with more than one device, so its ops are marked.
void buildFlatStep(mlir::OpPassManager &manager, const PhaseOptions &options);

/// Appends the passes for one device program: phases after `from`, which is `autodiff` or later.
void buildProgramPhases(mlir::OpPassManager &program, Phase from, Phase to,
                        const PhaseOptions &options);

/// Loads the dialects of the phases behind `partition`, before programs are lowered in parallel.
void loadDialects(mlir::MLIRContext &context, const PhaseOptions &options);

/// Runs the pass on the module that follows phase `checkpoint`: sends depend on the plans of the
/// programs that receive.
mlir::LogicalResult repeatSends(mlir::ModuleOp module);

/// Appends the verifier of a phase's promises, if they go beyond the verifiers of the ops.
void buildVerifier(mlir::OpPassManager &manager, Phase phase, const PhaseOptions &options);

/// Registers the pipeline `--reprise-to="PHASE from=PHASE entry=F policies=P,Q target=T
/// microbatches=M lanes=G model-lanes=T model-parts=P shards=F stages=N replicas=R begin=S,T
/// schedule=R checkpoint=C replayed-percent=N chunks=V gathers=HOW ignore-checkpoints
/// allow-unmatched-rules verify-replays unroll"`.
void registerPhases();

} // namespace reprise

#endif
