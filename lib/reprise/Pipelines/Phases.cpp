// reprise: the phases of compilation and their order.
#include "reprise/Pipelines/Phases.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Pipe/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Support/Wording.h"
#include "reprise/Target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace reprise {

static constexpr StringLiteral phaseNames[] = {"import",    "random",     "label",   "autodiff",
                                               "partition", "checkpoint", "kernels", "memory"};

std::optional<Phase> parsePhase(StringRef name) {
  const auto *found = llvm::find(phaseNames, name);
  if (found == std::end(phaseNames))
    return std::nullopt;
  return static_cast<Phase>(found - std::begin(phaseNames));
}

StringRef phaseName(Phase phase) { return phaseNames[static_cast<size_t>(phase)]; }

std::optional<Phase> phaseOfPass(StringRef pass) {
  return llvm::StringSwitch<std::optional<Phase>>(pass)
      .Case("reprise-import", Phase::Import)
      .Case("reprise-thread-random", Phase::Random)
      .Case("reprise-assign-labels", Phase::Label)
      .Cases({"reprise-split-loops", "reprise-differentiate", "reprise-unroll-loops",
              "reprise-expand-normalizations", "reprise-make-programs"},
             Phase::Autodiff)
      .Cases({"reprise-apply-plan", "reprise-checkpoint", "reprise-verify-checkpoint"},
             Phase::Checkpoint)
      .Cases({"reprise-expose-replays", "exec-form-launches"}, Phase::Kernels)
      .Cases({"exec-order-launches", "exec-place-buffers", "exec-verify-buffers"}, Phase::Memory)
      .Default(std::nullopt);
}

/// A loop over layers is no single stage.
static bool unrolls(const PhaseOptions &options) {
  return options.unroll || options.stages.devices > 1;
}

static void addVerifier(OpPassManager &program, Phase phase, const PhaseOptions &options) {
  if (phase == Phase::Checkpoint)
    program.addPass(createVerifyCheckpointPass());
  if (phase == Phase::Memory)
    program.addPass(exec::createVerifyBuffersPass({options.target}, options.facts));
}

static void addSlicing(OpPassManager &program, const PhaseOptions &options) {
  program.addPass(createSliceBatchPass({options.microbatches}));
  program.addPass(pipe::createLowerMicrobatchesPass());
  // Unrolling follows the cut, so that a sum over iterations stays one sum.
  if (unrolls(options))
    program.addPass(createUnrollLoopsPass());
  program.addPass(createCanonicalizePass());
  program.addPass(createCSEPass());
}

namespace {
/// Runs passes if the target has a capability.
struct IfCapable : PassWrapper<IfCapable, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IfCapable)
  IfCapable(std::string target, bool Capabilities::*capability, OpPassManager passes)
      : target(std::move(target)), capability(capability), passes(std::move(passes)) {}

  StringRef getName() const override { return "IfCapable"; }
  void runOnOperation() override {
    std::shared_ptr<const Target> found;
    if (failed(Target::get(target, getOperation()->getLoc(), found)))
      return signalPassFailure();
    if (!(found->getCapabilities().*capability))
      return markAllAnalysesPreserved();
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

  std::string target;
  bool Capabilities::*capability;
  OpPassManager passes;
};
} // namespace

static void addIfCapable(OpPassManager &manager, const PhaseOptions &options,
                         bool Capabilities::*capability, std::unique_ptr<Pass> pass) {
  OpPassManager passes(manager.getOpAnchorName());
  passes.addPass(std::move(pass));
  manager.addPass(std::make_unique<IfCapable>(options.target, capability, std::move(passes)));
}

/// Adds the passes of a phase behind `autodiff` for a device program.
static void addProgramPhase(OpPassManager &program, Phase phase, const PhaseOptions &options) {
  switch (phase) {
  case Phase::Partition:
    if (options.microbatches > 1)
      addSlicing(program, options);
    addIfCapable(program, options, &Capabilities::addsBias, createFuseEpiloguesPass());
    program.addPass(createSplitCastsPass());
    if (options.stages.devices == 1)
      program.addPass(createOffloadValuesPass());
    break;
  case Phase::Checkpoint:
    program.addPass(createApplyPlanPass());
    program.addPass(createCheckpointPass());
    break;
  case Phase::Kernels:
    if (options.verifyReplays)
      program.addPass(createExposeReplaysPass());
    // Originals that only the backward pass read are dead where that reads replays.
    program.addPass(createCSEPass());
    program.addPass(exec::createFormLaunchesPass({options.target}));
    break;
  case Phase::Memory:
    program.addPass(exec::createOrderLaunchesPass({options.target, /*within=*/0}, options.facts));
    program.addPass(exec::createPlaceBuffersPass(
        {options.target, /*enough=*/0, options.stages.devices}, options.facts));
    break;
  default:
    llvm_unreachable("a phase of modules");
  }
  addVerifier(program, phase, options);
}

void buildProgramPhases(OpPassManager &program, Phase from, Phase to, const PhaseOptions &options) {
  for (int phase = static_cast<int>(from) + 1; phase <= static_cast<int>(to); ++phase)
    addProgramPhase(program, static_cast<Phase>(phase), options);
}

static void addPhase(OpPassManager &manager, Phase phase, const PhaseOptions &options) {
  switch (phase) {
  case Phase::Import:
    manager.addPass(createImportPass({options.entry}));
    addIfCapable(manager.nest<func::FuncOp>(), options, &Capabilities::prefersWholeRows,
                 createPadClassesPass());
    manager.addPass(createCanonicalizePass());
    return;
  case Phase::Random:
    manager.addPass(createThreadRandomPass());
    manager.addPass(createCanonicalizePass());
    return;
  case Phase::Label: {
    AssignLabelsPassOptions labels;
    labels.policies.assign(options.policies.begin(), options.policies.end());
    labels.ignoreCheckpoints = options.ignoreCheckpoints;
    labels.allowUnmatchedRules = options.allowUnmatchedRules;
    labels.unroll = unrolls(options);
    manager.addPass(createAssignLabelsPass(labels));
    return;
  }
  case Phase::Autodiff: {
    MarkStagesPassOptions marks;
    marks.devices = options.stages.devices;
    marks.at.assign(options.stages.begin.begin(), options.stages.begin.end());
    manager.nest<func::FuncOp>().addPass(createMarkStagesPass(marks));
    if (!unrolls(options))
      manager.addPass(createSplitLoopsPass());
    manager.addPass(createDifferentiatePass());
    if (unrolls(options) && options.microbatches == 1)
      manager.nest<func::FuncOp>().addPass(createUnrollLoopsPass());
    manager.addPass(createExpandNormalizationsPass({options.microbatches}));
    // Ops of different units differ in their attributes, so that CSE never merges them.
    manager.addPass(createCanonicalizePass());
    manager.addPass(createCSEPass());
    manager.addPass(createMakeProgramsPass());
    return;
  }
  default:
    llvm_unreachable("a phase of device programs");
  }
}

namespace {
/// Pass that fails in a module without programs, in which a pipeline on programs would silently do
/// nothing.
struct RequirePrograms : PassWrapper<RequirePrograms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RequirePrograms)

  StringRef getName() const override { return "RequirePrograms"; }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (!findPrograms(getOperation()).empty())
      return;
    emitNoProgram(getOperation());
    signalPassFailure();
  }
};
} // namespace

static OpPassManager &nestPrograms(OpPassManager &manager) {
  manager.addPass(std::make_unique<RequirePrograms>());
  return manager.nest<ProgramOp>();
}

void buildVerifier(OpPassManager &manager, Phase phase, const PhaseOptions &options) {
  if (phase == Phase::Autodiff)
    manager.addPass(exec::createVerifyProgramsPass());
  if (phase > Phase::Autodiff)
    addVerifier(nestPrograms(manager), phase, options);
}

/// `partition` with more than one device.
static void addStages(OpPassManager &manager, const PhaseOptions &options) {
  const StageOptions &stages = options.stages;
  OpPassManager &program = nestPrograms(manager);
  buildProgramPhases(program, Phase::Autodiff, Phase::Partition, options);
  program.addPass(pipe::createSplitStacksPass());
  program.addPass(pipe::createBalanceStagesPass({stages.devices, stages.schedule, stages.chunks,
                                                 stages.checkpoint,
                                                 /*keep=*/!stages.begin.empty()},
                                                stages.inputs));
  manager.addPass(pipe::createFormPiecesPass({stages.devices, stages.schedule, stages.chunks}));
  if (!stages.checkpoint.empty())
    manager.addPass(pipe::createLabelPiecesPass({stages.checkpoint}));
  manager.addPass(pipe::createSplitStagesPass());
  manager.addPass(pipe::createScheduleTransfersPass());
  manager.addPass(pipe::createInlinePiecesPass());
  // Ops that only their marks kept apart are one on a device, before a plan counts their bytes.
  OpPassManager &flat = manager.nest<ProgramOp>();
  flat.addPass(createCSEPass());
  flat.addPass(createOffloadValuesPass());
  manager.addPass(exec::createVerifyProgramsPass());
}

void buildPhases(OpPassManager &manager, std::optional<Phase> from, Phase to,
                 const PhaseOptions &options) {
  int first = from ? static_cast<int>(*from) + 1 : 0;
  for (int phase = first; phase <= static_cast<int>(std::min(to, Phase::Autodiff)); ++phase)
    addPhase(manager, static_cast<Phase>(phase), options);
  Phase done = std::max(from.value_or(Phase::Autodiff), Phase::Autodiff);
  if (options.stages.devices > 1 && done == Phase::Autodiff && to > done) {
    addStages(manager, options);
    done = Phase::Partition;
  }
  if (to > done)
    buildProgramPhases(nestPrograms(manager), done, to, options);
}

namespace {
struct Words {
  std::optional<Phase> from;
  Phase to;
  bool nests = false; ///< behind the last phase, launches are shown as nests
  PhaseOptions options;
};
} // namespace

/// Point at which launches are shown as nests. It is no phase, since the target makes nests again.
static constexpr StringLiteral nestsPoint = "nests";

/// Limit of `chunks`, as of --chunks in reprise-compile.
static constexpr int64_t kMostChunks = 64;

/// Reads `PHASE from=PHASE entry=F policies=P,Q target=T microbatches=M stages=N begin=S,T
/// schedule=R chunks=V ignore-checkpoints allow-unmatched-rules verify-replays unroll`.
static LogicalResult parseOptions(StringRef text, Words &read,
                                  function_ref<LogicalResult(const Twine &)> error) {
  PhaseOptions &options = read.options;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  read.nests = !words.empty() && words.front() == nestsPoint;
  std::optional<Phase> parsed = words.empty() ? std::nullopt : parsePhase(words.front());
  if (read.nests)
    parsed = Phase::Memory;
  if (!parsed)
    return words.empty()
               ? error("expected a phase, one of " + llvm::join(ArrayRef(phaseNames), ", "))
               : error("unknown phase '" + words.front() + "'" +
                       suggest(words.front(), phaseNames));
  read.to = *parsed;
  for (StringRef word : ArrayRef(words).drop_front()) {
    auto [key, value] = word.split('=');
    if (key == "from" && (read.from = parsePhase(value)))
      continue;
    if (key == "entry")
      options.entry = value.str();
    else if (key == "policies")
      for (StringRef policy : splitPolicies(value))
        options.policies.push_back(policy.str());
    else if (key == "target")
      options.target = value.str();
    else if (key == "microbatches" && !value.getAsInteger(10, options.microbatches) &&
             options.microbatches >= 1)
      continue;
    else if (key == "stages" && !value.getAsInteger(10, options.stages.devices) &&
             options.stages.devices >= 1 && options.stages.devices <= kMostDevices)
      continue;
    else if (key == "begin")
      for (StringRef scope : llvm::split(value, ','))
        options.stages.begin.push_back(scope.str());
    else if (key == "schedule")
      options.stages.schedule = value.str();
    else if (key == "checkpoint")
      options.stages.checkpoint = value.str();
    else if (key == "chunks" && !value.getAsInteger(10, options.stages.chunks) &&
             options.stages.chunks >= 1 && options.stages.chunks <= kMostChunks)
      continue;
    else if (word == "ignore-checkpoints")
      options.ignoreCheckpoints = true;
    else if (word == "allow-unmatched-rules")
      options.allowUnmatchedRules = true;
    else if (word == "verify-replays")
      options.verifyReplays = true;
    else if (word == "unroll")
      options.unroll = true;
    else
      return error("unknown option '" + word + "'");
  }
  return success();
}

void registerPhases() {
  registerPassPipeline(
      "reprise-to",
      "Runs the phases up to the one named: " + llvm::join(ArrayRef(phaseNames), ", ") +
          "; or nests, all of them, and shows launches as loop nests",
      [](OpPassManager &manager, StringRef text, function_ref<LogicalResult(const Twine &)> error) {
        Words read;
        if (failed(parseOptions(text, read, error)))
          return failure();
        buildPhases(manager, read.from, read.to, read.options);
        if (read.nests)
          manager.addPass(exec::createFormNestsPass({read.options.target}));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

} // namespace reprise
