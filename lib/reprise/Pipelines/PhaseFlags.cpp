// reprise: the pipeline --reprise-to and its options
#include "reprise/Pipelines/Phases.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise {

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
  Option<int64_t> modelLanes{*this, "model-lanes",
                             llvm::cl::desc("lanes of contractions whose terms are cut"),
                             llvm::cl::init(1)};
  Option<int64_t> modelParts{*this, "model-parts", llvm::cl::desc("parts of the model"),
                             llvm::cl::init(1)};
  Option<std::string> shards{*this, "shards", llvm::cl::desc("file with shardings of arguments")};
  Option<int64_t> stages{*this, "stages", llvm::cl::desc("devices that the step is cut for"),
                         llvm::cl::init(1)};
  Option<int64_t> replicas{*this, "replicas", llvm::cl::desc("replicas of the devices"),
                           llvm::cl::init(1)};
  ListOption<std::string> begin{*this, "begin", llvm::cl::desc("scopes at which stages begin")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("order of the stages' passes")};
  Option<int64_t> replayedPercent{
      *this, "replayed-percent",
      llvm::cl::desc("units of parts of a model that are replayed, in percent"), llvm::cl::init(0)};
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
  options.model = {modelLanes, shards};
  options.stages.devices = stages;
  options.stages.modelParts = modelParts;
  options.stages.replicas = replicas;
  options.checksGrid = true;
  options.stages.begin.assign(begin.begin(), begin.end());
  options.stages.schedule = schedule;
  options.stages.checkpoint = checkpoint;
  options.stages.replayedPercent = replayedPercent;
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
      {"model-lanes", flags.modelLanes, kMostDevices},
      {"model-parts", flags.modelParts, flags.modelLanes},
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
    return error("unknown phase '" + name + "'" + suggest(name, listPhases()));
  phase = *parsed;
  return success();
}

/// Adds the phases that `text` names: `PHASE from=PHASE entry=F …`.
static LogicalResult buildFromText(OpPassManager &manager, StringRef text,
                                   function_ref<LogicalResult(const Twine &)> error) {
  auto [name, rest] = text.trim().split(' ');
  if (name.empty())
    return error("expected a phase, one of " + llvm::join(listPhases(), ", "));
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
      "Runs the phases up to the one named: " + llvm::join(listPhases(), ", ") +
          "; or nests, all of them, and shows launches as loop nests",
      buildFromText,
      [](function_ref<void(const mlir::detail::PassOptions &)> show) { show(PipelineFlags()); });
}

} // namespace reprise
