// reprise: checks of the flags of reprise-compile
#include "Flags.h"

#include "reprise/Policy/Policy.h"
#include "reprise/Runtime/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace reprise;

/// Describes the built-in policies by their summaries, and the other values of --policy.
static cli::Section describePolicies() {
  cli::Section section{"P, a policy (docs/reference/Policies.md)", {}};
  PolicyRegistry builtIn;
  for (const auto &[name, entry] : builtIn.all())
    section.rows.push_back(
        {entry.arguments.empty() ? name : name + "(" + entry.arguments + ")", entry.summary});
  section.rows.push_back(
      {"RULES.json", "a rule file (docs/reference/schemas/policy-rules.schema.json)"});
  section.rows.push_back({"@NAME", "the reprise.policy of that name in the model"});
  section.rows.push_back({"plugin:PATH", "a shared library (reprise-c/Policy.h); it is machine "
                                         "code: load only what you trust"});
  section.rows.push_back({"plugin:PATH{JSON}", "the same, with options for the plugin"});
  return section;
}

std::vector<std::string> reprise::listSchedules() {
  std::vector<std::string> names = pipeline::getRuleNames();
  names.push_back("auto");
  return names;
}

std::vector<std::string> reprise::listPolicies() {
  std::vector<std::string> names = PolicyRegistry().names();
  names.push_back("plugin:");
  return names;
}

std::string reprise::describeChunks() {
  std::string text;
  for (const pipeline::Rule &rule : pipeline::getRules())
    if (rule.leastChunks > 1)
      text += (rule.mostChunks == 0 ? "at least " : "") + std::to_string(rule.leastChunks) +
              " for " + rule.name + ", ";
  return text;
}

Flags::Flags()
    : Tool("reprise-compile", "compiles a training step to a bundle",
           "MODEL.mlir -o OUT.rpb [options]") {
  add(describePolicies());
  addExample("reprise-compile gpt2.mlir -o gpt2.rpb", "The fastest plan.");
  addExample("reprise-compile gpt2.mlir -o gpt2.rpb --budget=60% --report=plan.html",
             "The cheapest plan in 60 % of the memory, and a page about it.");
  addExample("reprise-compile gpt2.mlir --pareto=curve.html",
             "The plans to choose from: memory against time.");
  addExample("reprise-compile gpt2.mlir -o gpt2.rpb --policy='save_only_these_names(residual)'",
             "Save these values, recompute all others.");
  addExample(
      "reprise-compile gpt2.mlir -o gpt2.rpb --policy='plugin:./every-other.so{\"every\": 3}'",
      "A policy of your own, with its options.");
}

std::vector<std::string> reprise::listTargets(const Flags &flags) {
  return listTargets({flags.targets.begin(), flags.targets.end()}, flags.contractions.get());
}

std::string reprise::firstTarget(const Flags &flags) {
  return flags.targets.empty() ? "cpu" : listTargets(flags).front();
}

static std::string checkContractionFlags(const Flags &flags) {
  return checkContractions({flags.targets.begin(), flags.targets.end()}, flags.contractions.get());
}

StageTexts reprise::stageTexts(const Flags &flags) {
  if (flags.completed)
    return *flags.completed;
  StageTexts texts;
  if (flags.stages.isGiven())
    texts.stages = flags.stages.get();
  texts.schedule = flags.schedule.get();
  texts.checkpoint = flags.checkpoint.get();
  texts.mesh = flags.mesh.get();
  texts.gathers = flags.gathers.get();
  texts.modelLanes = flags.modelLanes;
  texts.shards = flags.shards.get();
  if (flags.chunks.isGiven())
    texts.chunks = flags.chunks;
  if (flags.microbatches.isGiven())
    texts.microbatches = flags.microbatches;
  if (flags.lanes.isGiven())
    texts.lanes = flags.lanes;
  texts.devices = flags.devices;
  texts.listsUnbuilt = flags.unbuilt;
  return texts;
}

/// Returns the fault of the flags of stages.
static std::string checkStageFlags(const Flags &flags) {
  if (std::string wrong = checkStages(stageTexts(flags)); !wrong.empty())
    return wrong;
  if (!flags.pareto.empty() && parseStages(stageTexts(flags)).countPrograms() > 1)
    return "--pareto draws the curve of one device: use it without --stages and --mesh";
  return "";
}

SmallVector<StringRef> reprise::singleOutputs(const Flags &flags) {
  SmallVector<StringRef> outputs;
  for (const cli::Text *flag : {&flags.output, &flags.planOut, &flags.pareto})
    if (!flag->empty())
      outputs.push_back(flag->get());
  return outputs;
}

static std::vector<std::string> listInputs(const Flags &flags) {
  std::vector<std::string> inputs = {flags.model.get(), flags.profile.get(), flags.planIn.get(),
                                     flags.shards.get()};
  inputs.insert(inputs.end(), flags.deviceFiles.begin(), flags.deviceFiles.end());
  if (const std::string &schedule = flags.schedule.get(); !pipeline::findRule(schedule))
    inputs.push_back(schedule);
  for (StringRef policy : flags.policies) {
    bool isPlugin = policy.consume_front("plugin:");
    if (isPlugin || policy.ends_with(".json"))
      inputs.push_back(policy.substr(0, isPlugin ? policy.find('{') : policy.size()).str());
  }
  return inputs;
}

/// Checks that no file is written twice, or over an input.
static std::string checkFiles(const Flags &flags) {
  std::vector<std::string> written, inputs = listInputs(flags);
  SmallVector<std::string> outputs(flags.reports.begin(), flags.reports.end());
  for (StringRef path : singleOutputs(flags))
    outputs.push_back(path.str());
  for (const std::string &path : outputs) {
    auto same = [&](const std::string &other) { return runtime::isSameFile(path, other); };
    if (llvm::any_of(written, same))
      return "'" + path + "' is named by two outputs";
    if (llvm::any_of(inputs, same))
      return "'" + path + "' is an input and an output";
    written.push_back(path);
  }
  return "";
}

/// Returns the fault of the flags of --interpret, or of a run.
static std::string checkInterpret(const Flags &flags) {
  bool hasRunFlags = flags.seed.isGiven() || flags.steps.isGiven() || !flags.inputDir.empty() ||
                     !flags.outputDir.empty();
  if (!flags.interpret)
    return hasRunFlags ? "--seed, --steps, --input-dir and --output-dir need --interpret" : "";
  if (flags.outputDir.empty())
    return "--interpret needs --output-dir";
  if (flags.verifyReplays)
    return "--verify-replays needs -o: replays are compared when the bundle runs";
  if (!flags.output.empty() || !flags.reports.empty() || !flags.explain.empty())
    return "-o, --report and --explain cannot be used with --interpret";
  if (!flags.deviceFiles.empty() || !flags.profile.empty())
    return "--device-file and --profile cannot be used with --interpret";
  if (!flags.planIn.empty() || !flags.planOut.empty() || !flags.budget.empty() ||
      !flags.pareto.empty() || flags.estimate || flags.timeLimit.isGiven())
    return "budgets and plans cannot be used with --interpret, whose results do not depend on them";
  return "";
}

/// Returns the fault of the flags of budgets and plans.
static std::string checkBudgets(const Flags &flags) {
  if (flags.estimate && !flags.output.empty())
    return "-o cannot be used with --estimate, which writes no bundle";
  if (!flags.pareto.empty() && !StringRef(flags.pareto.get()).ends_with(".json") &&
      !StringRef(flags.pareto.get()).ends_with(".html"))
    return "expected --pareto=F.html or F.json, got '" + flags.pareto.get() + "'";
  if (!flags.budget.empty() && !parseBudget(flags.budget.get()))
    return refuseBudget("--budget", flags.budget.get());
  return "";
}

/// Returns the fault of the flags of a search for a mesh.
static std::string checkSearch(const Flags &flags) {
  if (!isMeshSearched(stageTexts(flags)))
    return "";
  bool hasOutputs = !flags.output.empty() || !flags.planOut.empty() || !flags.planIn.empty() ||
                    !flags.pareto.empty() || !flags.explain.empty() || flags.interpret ||
                    flags.estimate || flags.verifyReplays;
  if (hasOutputs)
    return "--mesh=auto prints meshes and compiles none: use it with --report alone, and pass on "
           "the flags of a mesh";
  if (flags.deviceFiles.size() > 1 || flags.targets.size() > 1)
    return "--mesh=auto is for equal devices: give one --device-file and one --target";
  for (StringRef report : flags.reports)
    if (!report.ends_with(".json") && !report.ends_with(".txt"))
      return ("expected a report of --mesh=auto named *.json or *.txt, got '" + report + "'").str();
  return "";
}

/// Returns whether an output needs a plan, or an estimate of a plan.
static bool needsPlan(const Flags &flags) {
  return !flags.budget.empty() || !flags.planIn.empty() || !flags.planOut.empty() ||
         !flags.reports.empty() || !flags.explain.empty();
}

std::string reprise::checkFlags(const Flags &flags) {
  for (auto check :
       {checkInterpret, checkBudgets, checkStageFlags, checkContractionFlags, checkSearch})
    if (std::string wrong = check(flags); !wrong.empty())
      return wrong;
  bool isCurveAlone = !flags.pareto.empty() && !needsPlan(flags);
  bool isSearch = isMeshSearched(stageTexts(flags));
  if (!flags.interpret && !flags.estimate && !isCurveAlone && !isSearch && flags.output.empty())
    return "expected -o OUT.rpb";
  if (std::string wrong;
      !flags.remarksFilter.empty() && !llvm::Regex(flags.remarksFilter.get()).isValid(wrong))
    return "--remarks-filter: " + wrong;
  for (StringRef report : flags.reports)
    if (!report.ends_with(".json") && !report.ends_with(".html") && !report.ends_with(".txt"))
      return ("expected a report named *.json, *.html or *.txt, got '" + report + "'").str();
  return flags.interpret ? "" : checkFiles(flags);
}
