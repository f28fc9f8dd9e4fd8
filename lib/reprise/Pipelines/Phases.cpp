// reprise: the phases of compilation and their order.
#include "reprise/Pipelines/Phases.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
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
ArrayRef<StringLiteral> listPhases() { return phaseNames; }

/// A loop over layers is no single stage.
static bool unrolls(const PhaseOptions &options) {
  return options.unroll || options.stages.devices > 1 || options.model.lanes > 1;
}

static void addVerifier(OpPassManager &program, Phase phase, const PhaseOptions &options) {
  if (phase == Phase::Checkpoint)
    program.addPass(createVerifyCheckpointPass());
  if (phase == Phase::Memory)
    program.addPass(exec::createVerifyBuffersPass({options.target}, options.facts));
}

static void addBalance(OpPassManager &program, const StageOptions &stages) {
  program.addPass(pipe::createBalanceStagesPass({stages.devices, stages.schedule, stages.chunks,
                                                 stages.replicas, stages.checkpoint,
                                                 /*keep=*/!stages.begin.empty()},
                                                stages.inputs));
}

static void addSlicing(OpPassManager &program, const PhaseOptions &options) {
  program.addPass(
      createSliceBatchPass({options.microbatches, options.lanes, options.stages.replicas}));
  program.addPass(pipe::createLowerMicrobatchesPass());
  // Unrolling follows the cut, so that a sum over iterations stays one sum.
  if (unrolls(options))
    program.addPass(createUnrollLoopsPass());
  program.addPass(createCanonicalizePass());
  program.addPass(createCSEPass());
}

namespace {
/// Runs a pass if the target has a capability. Its argument is that of the pass.
struct IfCapable : PassWrapper<IfCapable, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IfCapable)
  IfCapable(std::string target, bool Capabilities::*capability, OpPassManager passes)
      : target(std::move(target)), capability(capability), passes(std::move(passes)) {}

  StringRef getName() const override { return "IfCapable"; }
  StringRef getArgument() const override { return passes.begin()->getArgument(); }
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
    if (options.microbatches > 1 || options.lanes > 1 || options.stages.replicas > 1)
      addSlicing(program, options);
    if (options.stages.modelParts > 1 && options.stages.devices > 1)
      addBalance(program, options.stages); // seconds of whole ops, before there are parts
    program.addPass(createShardModelPass(
        {options.model.lanes, options.stages.modelParts, options.model.shards}));
    program.addPass(createExpandLanesPass());
    addIfCapable(program, options, &Capabilities::addsBias, createFuseEpiloguesPass());
    program.addPass(createSplitCastsPass());
    if (options.stages.countPrograms() == 1)
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
        {options.target, /*enough=*/0, options.stages.countPrograms()}, options.facts));
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

void loadDialects(MLIRContext &context, const PhaseOptions &options) {
  PassManager manager(&context, ProgramOp::getOperationName());
  buildProgramPhases(manager, Phase::Partition, Phase::Memory, options);
  DialectRegistry registry;
  manager.getDependentDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

LogicalResult repeatSends(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(exec::createRepeatSendsPass());
  return manager.run(module);
}

static void addPhase(OpPassManager &manager, Phase phase, const PhaseOptions &options) {
  const StageOptions &stages = options.stages;
  switch (phase) {
  case Phase::Import: {
    ImportPassOptions import;
    import.entry = options.entry;
    if (options.checksGrid)
      import.mesh.assign({stages.replicas, stages.devices, stages.modelParts});
    manager.addPass(createImportPass(import));
    addIfCapable(manager.nest<func::FuncOp>(), options, &Capabilities::prefersWholeRows,
                 createPadClassesPass());
    manager.addPass(createCanonicalizePass());
    return;
  }
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
    marks.replicas = options.stages.replicas;
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

/// Makes the programs of the devices from a step in pieces.
static void addPrograms(OpPassManager &manager, const StageOptions &stages) {
  manager.addPass(pipe::createSplitStagesPass({stages.gathers}));
  manager.addPass(pipe::createScheduleTransfersPass());
  manager.addPass(pipe::createInlinePiecesPass());
  // Ops that only their marks kept apart are one on a device, before a plan counts their bytes.
  OpPassManager &flat = manager.nest<ProgramOp>();
  flat.addPass(createCSEPass());
  flat.addPass(createOffloadValuesPass());
  manager.addPass(exec::createVerifyProgramsPass());
}

void buildFlatStep(OpPassManager &manager, const PhaseOptions &options) {
  OpPassManager &program = nestPrograms(manager);
  PhaseOptions own = options;
  own.unroll = true;
  own.stages.devices = own.stages.replicas = 1;
  buildProgramPhases(program, Phase::Autodiff, Phase::Partition, own);
  program.addPass(pipe::createSplitStacksPass());
}

/// `partition` with more than one device.
static void addStages(OpPassManager &manager, const PhaseOptions &options) {
  const StageOptions &stages = options.stages;
  OpPassManager &program = nestPrograms(manager);
  buildProgramPhases(program, Phase::Autodiff, Phase::Partition, options);
  if (stages.modelParts > 1) {
    program.addPass(pipe::createReplayPartsPass({stages.checkpoint, stages.replayedPercent}));
    manager.addPass(pipe::createFormPartPiecesPass(
        {stages.replicas, stages.devices, stages.modelParts, stages.schedule, stages.chunks}));
    return addPrograms(manager, stages);
  }
  program.addPass(pipe::createSplitStacksPass());
  addBalance(program, stages);
  if (stages.replicas > 1) {
    pipe::ShardArraysPassOptions shards;
    shards.replicas = stages.replicas;
    shards.leastBytes = stages.leastPart;
    program.addPass(pipe::createShardArraysPass(shards));
    program.addPass(createCSEPass()); // all readers of an array share its gather
  }
  manager.addPass(pipe::createFormPiecesPass(
      {stages.devices, stages.schedule, stages.chunks, stages.replicas}));
  if (!stages.checkpoint.empty())
    manager.addPass(pipe::createLabelPiecesPass({stages.checkpoint}));
  addPrograms(manager, stages);
}

void buildPhases(OpPassManager &manager, std::optional<Phase> from, Phase to,
                 const PhaseOptions &options) {
  int first = from ? static_cast<int>(*from) + 1 : 0;
  for (int phase = first; phase <= static_cast<int>(std::min(to, Phase::Autodiff)); ++phase)
    addPhase(manager, static_cast<Phase>(phase), options);
  Phase done = std::max(from.value_or(Phase::Autodiff), Phase::Autodiff);
  if (options.stages.countPrograms() > 1 && done == Phase::Autodiff && to > done) {
    addStages(manager, options);
    done = Phase::Partition;
  }
  if (done < Phase::Checkpoint && to >= Phase::Checkpoint) {
    buildProgramPhases(nestPrograms(manager), done, Phase::Checkpoint, options);
    manager.addPass(exec::createRepeatSendsPass());
    done = Phase::Checkpoint;
  }
  if (to > done)
    buildProgramPhases(nestPrograms(manager), done, to, options);
}

} // namespace reprise
