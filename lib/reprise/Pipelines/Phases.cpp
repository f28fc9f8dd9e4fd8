// reprise: the phases of compilation and their order.
#include "reprise/Pipelines/Phases.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/Transforms/Passes.h"
#include "reprise/Policy/Policy.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise {

static constexpr StringLiteral phaseNames[] = {"import",     "random",  "label", "autodiff",
                                               "checkpoint", "kernels", "memory"};

std::optional<Phase> parsePhase(StringRef name) {
  const auto *found = llvm::find(phaseNames, name);
  if (found == std::end(phaseNames))
    return std::nullopt;
  return static_cast<Phase>(found - std::begin(phaseNames));
}

StringRef phaseName(Phase phase) { return phaseNames[static_cast<size_t>(phase)]; }

void buildForm(OpPassManager &manager, const PlanForm &form) {
  if (form.isUnrolled) {
    manager.addPass(createUnrollLoopsPass());
    manager.addPass(createCanonicalizePass());
    manager.addPass(createCSEPass());
  }
  if (form.hasBodies)
    manager.addPass(createCheckpointPass({/*bodies=*/true}));
  if (form.isDeferred)
    manager.addPass(createDeferGradientPass());
}

static void addPhase(OpPassManager &manager, Phase phase, const PhaseOptions &options) {
  switch (phase) {
  case Phase::Import:
    manager.addPass(createImportPass({options.entry}));
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
    labels.unroll = options.unroll;
    manager.addPass(createAssignLabelsPass(labels));
    return;
  }
  case Phase::Autodiff:
    if (!options.unroll)
      manager.addPass(createSplitLoopsPass());
    manager.addPass(createDifferentiatePass());
    if (options.unroll)
      manager.addPass(createUnrollLoopsPass());
    manager.addPass(createExpandNormalizationsPass());
    // Ops of different units differ in their attributes, so that CSE never merges them.
    manager.addPass(createCanonicalizePass());
    manager.addPass(createCSEPass());
    return;
  case Phase::Checkpoint:
    buildForm(manager, options.form);
    manager.addPass(createCheckpointPass());
    return;
  case Phase::Kernels:
    if (options.verifyReplays)
      manager.addPass(createExposeReplaysPass());
    // Originals that only the backward pass read are dead where that reads replays.
    manager.addPass(createCSEPass());
    manager.addPass(exec::createFormLaunchesPass({options.target}));
    return;
  case Phase::Memory:
    manager.addPass(
        exec::createOrderLaunchesPass({options.target, options.form.enoughArena}, options.facts));
    manager.addPass(
        exec::createPlaceBuffersPass({options.target, options.form.enoughArena}, options.facts));
    return;
  }
}

void buildVerifier(OpPassManager &manager, Phase phase, const PhaseOptions &options) {
  if (phase == Phase::Checkpoint)
    manager.addPass(createVerifyCheckpointPass());
  if (phase == Phase::Memory)
    manager.addPass(exec::createVerifyBuffersPass({options.target}, options.facts));
}

void buildPhases(OpPassManager &manager, std::optional<Phase> from, Phase to,
                 const PhaseOptions &options) {
  for (int phase = from ? static_cast<int>(*from) + 1 : 0; phase <= static_cast<int>(to); ++phase) {
    addPhase(manager, static_cast<Phase>(phase), options);
    buildVerifier(manager, static_cast<Phase>(phase), options);
  }
}

/// Reads `PHASE entry=F policies=P,Q target=T ignore-checkpoints allow-unmatched-rules
/// verify-replays unroll`.
static LogicalResult parseOptions(StringRef text, Phase &phase, PhaseOptions &options,
                                  function_ref<LogicalResult(const Twine &)> error) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  std::optional<Phase> parsed = words.empty() ? std::nullopt : parsePhase(words.front());
  if (!parsed)
    return error("expected a phase, one of " + llvm::join(ArrayRef(phaseNames), ", "));
  phase = *parsed;
  for (StringRef word : ArrayRef(words).drop_front()) {
    auto [key, value] = word.split('=');
    if (key == "entry")
      options.entry = value.str();
    else if (key == "policies")
      for (StringRef policy : splitPolicies(value))
        options.policies.push_back(policy.str());
    else if (key == "target")
      options.target = value.str();
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
      "Runs the phases up to the one named: " + llvm::join(ArrayRef(phaseNames), ", "),
      [](OpPassManager &manager, StringRef text, function_ref<LogicalResult(const Twine &)> error) {
        Phase phase;
        PhaseOptions options;
        if (failed(parseOptions(text, phase, options, error)))
          return failure();
        buildPhases(manager, std::nullopt, phase, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}

} // namespace reprise
