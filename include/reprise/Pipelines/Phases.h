// reprise: the phases of compilation and their order; no other file knows it.
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

/// Each phase ends in a verifier of what it promises. Up to `autodiff` phases work on a module;
/// from `partition` on they work on its device programs (ProgramOp), each for itself, and leave
/// functions alone.
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

/// More devices than a pipeline has.
inline constexpr int64_t kMostDevices = 1024;

/// How `partition` shares a step out among devices (docs/explanation/Stages.md).
struct StageOptions {
  int64_t devices = 1;            ///< one leaves the step on one device
  std::vector<std::string> begin; ///< the scopes at which stages begin; empty: balanced
  std::string schedule;           ///< or auto; empty: 1f1b, or gpipe for gradients of gradients
  std::string checkpoint;         ///< always, except-last or never; empty: as labels say
  int64_t chunks = 1;             ///< stages per device, or as near to it as the schedule takes
  /// Devices and refused cuts (Dialect/Pipe/Transforms/StageInputs.h); null: devices of usual
  /// rates.
  std::shared_ptr<const pipe::StageInputs> inputs;
};

/// What the phases need to know of the user's wishes.
struct PhaseOptions {
  std::string entry = "train";
  std::vector<std::string> policies;
  bool allowUnmatchedRules = false;   ///< a rule that matches nothing is a warning
  std::string target = "cpu";         ///< as Target::get reads it (Target/Target.h)
  std::shared_ptr<LaunchFacts> facts; ///< of the target, to be looked up once for several programs
  bool ignoreCheckpoints = false;
  int64_t microbatches = 1; ///< parts of the batch; 1 leaves the step as it is
  StageOptions stages;
  bool unroll = false;        ///< `autodiff` replaces loops by iterations, which labels tell apart
  bool verifyReplays = false; ///< replays and originals live to the end of the step, to be compared
};

std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef phaseName(Phase phase);
/// The phase that a pass, by its argument, is of; none for one that stands in several.
std::optional<Phase> phaseOfPass(llvm::StringRef pass);

/// Appends the passes of the phases after `from` (or from the start) up to and with `to`, for a
/// module. What they do with device programs is the same for all of them.
void buildPhases(mlir::OpPassManager &manager, std::optional<Phase> from, Phase to,
                 const PhaseOptions &options);

/// The same for one device program: phases after `from`, which is `autodiff` or later.
void buildProgramPhases(mlir::OpPassManager &program, Phase from, Phase to,
                        const PhaseOptions &options);

/// Appends the verifier of what a phase promises, if there is more to say than the ops' own
/// verifiers do.
void buildVerifier(mlir::OpPassManager &manager, Phase phase, const PhaseOptions &options);

/// Registers the pipeline `--reprise-to="PHASE from=PHASE entry=F policies=P,Q target=T
/// microbatches=M stages=N begin=S,T schedule=R checkpoint=C chunks=V ignore-checkpoints
/// allow-unmatched-rules verify-replays unroll"`.
void registerPhases();

} // namespace reprise

#endif
