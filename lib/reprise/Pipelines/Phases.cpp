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

/// `partition` with more than one device.
static void addStages(OpPassManager &manager, const PhaseOptions &options) {
  const StageOptions &stages = options.stages;
  OpPassManager &program = nestPrograms(manager);
  buildProgramPhases(program, Phase::Autodiff, Phase::Partition, options);
  program.addPass(pipe::createSplitStacksPass());
  program.addPass(pipe::createBalanceStagesPass({stages.devices, stages.schedule, stages.chunks,
                                                 stages.replicas, stages.checkpoint,
                                                 /*keep=*/!stages.begin.empty()},
                                                stages.inputs));
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
  manager.addPass(pipe::createSplitStagesPass({stages.gathers}));
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

/// Point at which launches are shown as nests. It is no phase, since the target makes nests again.
static constexpr StringLiteral nestsPoint = "nests";

/// Limit of `chunks`, as of --chunks in reprise-compile.
static constexpr int64_t kMostChunks = 64;

namespace {
/// Options of `--reprise-to`, which follow the name of the phase.
struct PipelineFlags : PassPipelineOptions<PipelineFlags> {
  Option<std::string> from{*this, "from", llvm::cl::desc("phase that the module has been through")};
  Option<std::string> entry{*this, "entry", llvm::cl::desc("function to compile"),
                            llvm::cl::init(PhaseOptions().entry)};
  Option<std::string> policies{*this, "policies", llvm::cl::desc("policies, with commas between")};
  Option<std::string> target{*this, "target", llvm::cl::desc("machine to compile for"),
                             llvm::cl::init(PhaseOptions().target)};
  Option<int64_t> microbatches{*this, "microbatches", llvm::cl::desc("parts of the batch"),
                               llvm::cl::init(1)};
  Option<int64_t> lanes{*this, "lanes", llvm::cl::desc("chains of micro-batches"),
                        llvm::cl::init(1)};
  Option<int64_t> stages{*this, "stages", llvm::cl::desc("devices that the step is cut for"),
                         llvm::cl::init(1)};
  Option<int64_t> replicas{*this, "replicas", llvm::cl::desc("replicas of the devices"),
                           llvm::cl::init(1)};
  ListOption<std::string> begin{*this, "begin", llvm::cl::desc("scopes at which stages begin")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("order of the stages' passes")};
  Option<std::string> checkpoint{*this, "checkpoint", llvm::cl::desc("passes that stages replay")};
  Option<int64_t> chunks{*this, "chunks", llvm::cl::desc("stages per device"), llvm::cl::init(1)};
  Option<std::string> gathers{*this, "gathers",
                              llvm::cl::desc("labels of arrays gathered from replicas")};
  Option<bool> ignoreCheckpoints{*this, "ignore-checkpoints",
                                 llvm::cl::desc("read checkpoints as plain blocks")};
  Option<bool> allowUnmatchedRules{*this, "allow-unmatched-rules",
                                   llvm::cl::desc("a rule without a match is a warning")};
  Option<bool> verifyReplays{*this, "verify-replays",
                             llvm::cl::desc("replays and originals live to the end of the step")};
  Option<bool> unroll{*this, "unroll", llvm::cl::desc("replace loops by their iterations")};

  bool knows(StringRef key) const { return OptionsMap.contains(key); }
  PhaseOptions read() const;
};
} // namespace

PhaseOptions PipelineFlags::read() const {
  PhaseOptions options;
  options.entry = entry;
  if (policies.hasValue())
    for (StringRef policy : splitPolicies(policies.getValue()))
      options.policies.push_back(policy.str());
  options.target = target;
  options.microbatches = microbatches;
  options.lanes = lanes;
  options.stages.devices = stages;
  options.stages.replicas = replicas;
  options.stages.begin.assign(begin.begin(), begin.end());
  options.stages.schedule = schedule;
  options.stages.checkpoint = checkpoint;
  options.stages.chunks = chunks;
  options.stages.gathers = gathers;
  options.ignoreCheckpoints = ignoreCheckpoints;
  options.allowUnmatchedRules = allowUnmatchedRules;
  options.verifyReplays = verifyReplays;
  options.unroll = unroll;
  return options;
}

/// Returns what is wrong with the options of `--reprise-to`; empty if they are good.
static std::string parseFlags(StringRef text, PipelineFlags &flags) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (!flags.knows(word.split('=').first))
      return "unknown option '" + word.str() + "'";
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (failed(flags.parseFromString(text, stream)))
    return wrong.empty() ? "invalid options '" + text.str() + "'" : wrong;
  const std::tuple<const char *, int64_t, int64_t> numbers[] = {
      {"microbatches", flags.microbatches, INT64_MAX},
      {"lanes", flags.lanes, INT64_MAX},
      {"stages", flags.stages, kMostDevices},
      {"replicas", flags.replicas, kMostDevices / std::max<int64_t>(1, flags.stages)},
      {"chunks", flags.chunks, kMostChunks}};
  for (auto [name, number, most] : numbers)
    if (number < 1 || number > most)
      return "expected " + std::string(name) + " from 1 to " + std::to_string(most) + ", got " +
             std::to_string(number);
  return "";
}

/// Reads the name of a phase.
static LogicalResult readPhase(StringRef name, Phase &phase,
                               function_ref<LogicalResult(const Twine &)> error) {
  std::optional<Phase> parsed = parsePhase(name);
  if (!parsed)
    return error("unknown phase '" + name + "'" + suggest(name, phaseNames));
  phase = *parsed;
  return success();
}

/// Adds the phases that `text` names: `PHASE from=PHASE entry=F …`.
static LogicalResult buildFromText(OpPassManager &manager, StringRef text,
                                   function_ref<LogicalResult(const Twine &)> error) {
  auto [name, rest] = text.trim().split(' ');
  if (name.empty())
    return error("expected a phase, one of " + llvm::join(ArrayRef(phaseNames), ", "));
  PipelineFlags flags;
  bool showsNests = name == nestsPoint;
  Phase to = Phase::Memory, from = Phase::Import;
  if (!showsNests && failed(readPhase(name, to, error)))
    return failure();
  if (std::string wrong = parseFlags(rest, flags); !wrong.empty())
    return error(wrong);
  bool isBegun = !flags.from.empty();
  if (isBegun && failed(readPhase(flags.from, from, error)))
    return failure();
  buildPhases(manager, isBegun ? std::optional(from) : std::nullopt, to, flags.read());
  if (showsNests)
    manager.addPass(exec::createFormNestsPass({flags.target}));
  return success();
}

void registerPhases() {
  registerPassPipeline(
      "reprise-to",
      "Runs the phases up to the one named: " + llvm::join(ArrayRef(phaseNames), ", ") +
          "; or nests, all of them, and shows launches as loop nests",
      buildFromText,
      [](function_ref<void(const mlir::detail::PassOptions &)> show) { show(PipelineFlags()); });
}

} // namespace reprise
