// reprise: compares all configurations of one program
#include "Check.h"

#include "Musts.h"
#include "Ops.h"
#include "Run.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Compiler.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Reference/Steps.h"
#include "reprise/Runtime/Hash.h"
#include "reprise/Support/Wording.h"
#include <cmath>

using namespace mlir;

namespace reprise::fuzz {
namespace {

struct Variant {
  std::string name;
  PhaseOptions phases;
  bool labels = true;
};

class Checker {
public:
  Checker(StringRef text, MLIRContext *context, std::optional<uint64_t> seed)
      : text(text), context(context), random(seed.value_or(0)), isThorough(!seed),
        seed(random.below(1000)), steps(isThorough ? 2 : 1 + random.below(2)) {}

  Verdict run();

private:
  bool fail(const Failure &failure) { return fail(failure.kind, failure.details); }
  bool fail(StringRef kind, const Twine &details) {
    verdict.kind = kind.str();
    verdict.details = details.str();
    return false;
  }
  OwningOpRef<ModuleOp> parse(const Variant &variant);
  bool checkText();
  bool dropClash(std::vector<Variant> &all);
  bool isUnrolledClash(const Variant &variant);
  bool interpretAll(std::vector<Variant> &all, Outcome &expected);
  bool interpretVariant(const Variant &variant, Outcome &outcome);
  bool runVariant(const Variant &variant, const Outcome &expected,
                  std::optional<Budget> budget = std::nullopt);
  bool runOnTargets(Variant variant, const Outcome &expected);
  void findLeast(StringRef note);
  bool runBudgets(const Variant &variant, const Outcome &expected);
  bool runStages(Variant variant, const Outcome &expected);
  bool planWithin(const Variant &variant, const Budget &budget);
  std::vector<Variant> variants();

  StringRef text;
  MLIRContext *context;
  Random random;
  bool isThorough;
  int64_t seed, steps, leastBytes = 0;
  Verdict verdict;
  std::string diagnostics;
};

OwningOpRef<ModuleOp> Checker::parse(const Variant &variant) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (module && !variant.labels)
    module->walk([](Operation *op) {
      op->removeAttr("reprise.label");
      if (isa<PolicyOp>(op))
        op->erase();
    });
  return module;
}

/// Finds the budget that a note says is feasible.
void Checker::findLeast(StringRef note) {
  note.consume_front("a budget of ");
  auto [bytes, rest] = note.split(" bytes is known to fit");
  if (bytes.size() < note.size())
    (void)StringRef(ungroupDigits(bytes)).getAsInteger(10, leastBytes);
}

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

bool Checker::checkText() {
  OwningOpRef<ModuleOp> module = parse({});
  if (!module)
    return fail("text", "it cannot be parsed: " + diagnostics);
  std::string once = print(*module), twice;
  if (OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(once, context))
    twice = print(*again);
  if (once != twice)
    return fail("text", "printed and parsed it is another program: " + diagnostics);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  twice.clear();
  if (succeeded(writeBytecodeToFile(*module, stream)))
    if (OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(bytes, context))
      twice = print(*again);
  return once == twice || fail("text", "read from bytecode it is another program: " + diagnostics);
}

bool Checker::interpretVariant(const Variant &variant, Outcome &outcome) {
  OwningOpRef<ModuleOp> module = parse(variant);
  auto count = [&](Operation *op) {
    if (!isa_and_nonnull<RepriseDialect>(op->getDialect()))
      return;
    verdict.generated.insert(op->getName().getStringRef().str());
    if (isReplay(op))
      verdict.replayed.insert(op->getName().getStringRef().str());
  };
  module->walk(count);
  if (failed(runPhases(*module, Phase::Checkpoint, variant.phases)))
    return fail("error", variant.name + ": " + diagnostics);
  module->walk(count);
  if (std::string broken = findBrokenMust(*module); !broken.empty())
    return fail("label", variant.name + ": " + broken);
  StepsOptions options;
  options.seed = seed;
  options.steps = steps;
  std::string error;
  FailureOr<StepsReport> report = interpretSteps(*module, options, error);
  if (failed(report))
    return fail("error", variant.name + ", interpreted: " + error + diagnostics);
  outcome = {report->hash, report->next.offset};
  return true;
}

bool hasReplays(const Compilation &compilation) {
  const std::optional<ReportedBudget> &budget = compilation.programs.front().report.budget;
  return budget && budget->search && budget->search->costIncrease > 0;
}

std::string nameOf(const Budget &budget) {
  return budget.bytes ? std::to_string(*budget.bytes) + " bytes"
                      : std::to_string(std::lround(*budget.share * 100)) + "%";
}

/// Limits that docs/reference/Zoo.md and docs/reference/Pipeline.md name. All other programs
/// compile.
bool isLimit(StringRef said) {
  return said.contains("kernels of attention take heads of") ||
         said.contains("the forward pass can be cut into at most") ||
         said.contains("a step that pauses is not cut into stages") ||
         said.contains("more than 256 transfers are in flight");
}

bool Checker::runVariant(const Variant &variant, const Outcome &expected,
                         std::optional<Budget> budget) {
  OwningOpRef<ModuleOp> module = parse(variant);
  std::string name = variant.name;
  CompileOptions options;
  options.phases = variant.phases;
  options.threads = 5;
  options.budget = budget;
  if (budget)
    name += " within " + nameOf(*budget);
  FailureOr<Compilation> compilation = compile(*module, options);
  if (failed(compilation) && isLimit(diagnostics))
    return true;
  bool isShare = budget && budget->share;
  if (isShare && failed(compilation) && StringRef(diagnostics).contains("does not fit in")) {
    verdict.budgets.insert(kTooSmall);
    diagnostics.clear();
    return runVariant(variant, expected, Budget{leastBytes, std::nullopt});
  }
  if (failed(compilation))
    return fail("error", name + ", compiled: " + diagnostics);
  for (const CompiledProgram &program : compilation->programs)
    if (program.report.plan)
      if (std::string broken = findBrokenMust(*program.report.plan); !broken.empty())
        return fail("label", name + ": " + broken);
  for (unsigned threads : {1, 2, 5}) {
    RunOptions run{name, threads, seed, steps, threads == 2, {}};
    if (Failure failure = runBundle(compilation->bundle, run, expected))
      return fail(failure);
  }
  if (budget)
    verdict.budgets.insert(hasReplays(*compilation) ? kHeldByReplays : kHeld);
  return true;
}

bool Checker::runOnTargets(Variant variant, const Outcome &expected) {
  for (const std::string &target : runnableTargets()) {
    variant.name = "on " + target;
    variant.phases.target = target;
    if (!runVariant(variant, expected))
      return false;
  }
  return true;
}

/// Checks budgets. If a share is too small, checks the budget that the error names.
bool Checker::runBudgets(const Variant &variant, const Outcome &expected) {
  std::vector<int64_t> shares = {90, 70, 50};
  if (!isThorough)
    shares = {random.within(30, 100)};
  for (int64_t percent : shares)
    if (!runVariant(variant, expected, Budget{std::nullopt, static_cast<double>(percent) / 100}))
      return false;
  return true;
}

/// Checks plans within a budget. The error of a budget that is too small names one that is met.
bool Checker::planWithin(const Variant &variant, const Budget &budget) {
  OwningOpRef<ModuleOp> module = parse(variant);
  CompileOptions options;
  options.phases = variant.phases;
  options.threads = 2;
  options.budget = budget;
  options.estimateOnly = true;
  diagnostics.clear();
  if (succeeded(compile(*module, options)))
    return true;
  bool isTooSmall = budget.share && StringRef(diagnostics).contains("does not fit in");
  if (isLimit(diagnostics) || (isTooSmall && planWithin(variant, Budget{leastBytes, std::nullopt})))
    return true;
  return verdict.kind.empty() ? fail("error", variant.name + " within " + nameOf(budget) +
                                                  ", planned: " + diagnostics)
                              : false;
}

/// Checks a step that is cut into stages: it has programs without a backward pass, and a GPU has a
/// link to the host, for which programs are planned separately.
bool Checker::runStages(Variant variant, const Outcome &expected) {
  variant.phases.stages.devices = random.within(1, 3);
  variant.name += " on " + std::to_string(variant.phases.stages.devices) + " devices";
  if (!runVariant(variant, expected))
    return false;
  variant.phases.target = "cuda:sm_90";
  variant.name += " with a GPU each";
  return planWithin(variant, Budget{std::nullopt, static_cast<double>(random.within(1, 80)) / 100});
}

Variant makeVariant(const std::string &policy, bool labels, bool verifyReplays) {
  Variant variant;
  variant.name = policy + (labels ? " over labels" : " without labels") +
                 (verifyReplays ? ", replays verified" : "");
  variant.labels = labels;
  variant.phases.ignoreCheckpoints = !labels;
  variant.phases.policies = {policy};
  variant.phases.verifyReplays = verifyReplays;
  return variant;
}

/// Returns the variants; the first is the unchanged program.
std::vector<Variant> Checker::variants() {
  std::vector<Variant> result(1);
  result[0].name = "as labelled";
  result.push_back(makeVariant("save-all", false, false));
  if (text.contains("reprise.loop") && (isThorough || random.chance(40))) {
    Variant unrolled;
    unrolled.name = "unrolled";
    unrolled.phases.unroll = true;
    result.push_back(unrolled);
  }
  std::vector<std::string> policies = PolicyRegistry().names();
  if (isThorough)
    for (const std::string &policy : policies) {
      result.push_back(makeVariant(policy, false, true));
      result.push_back(makeVariant(policy, true, false));
    }
  // Half of the programs use as many replays as possible.
  std::string policy = random.chance(50) ? "recompute-all" : random.pick(policies);
  bool labels = random.chance(30), verifyReplays = random.chance(30);
  if (!isThorough)
    result.push_back(makeVariant(policy, labels, verifyReplays));
  return result;
}

/// Drops the labels of a program that is refused because of them. Two random labels may contradict
/// each other on ops of one value, or for one memory; a label for a result of a loop, or in the
/// rule of a derivative, is refused too.
bool Checker::dropClash(std::vector<Variant> &all) {
  StringRef said(diagnostics);
  if (!said.contains("contradictory labels for one ") && !said.contains("of what a loop makes") &&
      !said.contains("computes a derivative"))
    return false;
  llvm::erase_if(all, [](const Variant &variant) { return variant.labels; });
  verdict = {};
  diagnostics.clear();
  return !all.empty();
}

/// Ops of two iterations may be equal, so that their labels can contradict each other only if the
/// loop is unrolled.
bool Checker::isUnrolledClash(const Variant &variant) {
  if (!variant.phases.unroll || !StringRef(diagnostics).contains("contradictory labels for one"))
    return false;
  verdict = {};
  diagnostics.clear();
  return true;
}

/// Interprets all variants; `expected` is the outcome of the first. Drops the variants whose labels
/// clash.
bool Checker::interpretAll(std::vector<Variant> &all, Outcome &expected) {
  for (size_t i = 0; i < all.size(); ++i) {
    Outcome outcome;
    if (!interpretVariant(all[i], outcome)) {
      if (isUnrolledClash(all[i])) {
        all.erase(all.begin() + i--);
        continue;
      }
      if (i > 0 || !dropClash(all) || !interpretVariant(all[i], outcome))
        return false;
    }
    if (i == 0)
      expected = outcome;
    else if (outcome.text() != expected.text())
      return fail("mismatch", "interpreted " + all[i].name + ": " + outcome.text() +
                                  ", as labelled: " + expected.text());
  }
  return true;
}

Verdict Checker::run() {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      findLeast(note.str());
    return success();
  });
  if (!checkText())
    return verdict;
  std::vector<Variant> all = variants();
  Outcome expected;
  for (Variant &variant : all) {
    variant.phases.allowUnmatchedRules = true;
    if (!isThorough)
      variant.phases.target = random.pick(runnableTargets());
  }
  if (!interpretAll(all, expected))
    return verdict;
  if (isThorough && !runOnTargets(all[0], expected))
    return verdict;
  // Kernels take most of the time, and plans share most kernels.
  size_t left = isThorough ? all.size() : random.within(1, 2);
  for (size_t i = 0; i < all.size(); ++i)
    if (i != left && !runVariant(all[i], expected))
      return verdict;
  const Variant &bounded = all[isThorough ? 0 : random.below(std::min<int64_t>(2, all.size()))];
  if (runBudgets(bounded, expected) && (isThorough || random.chance(40)))
    runStages(bounded, expected);
  return verdict;
}

} // namespace

/// Returns the key of a verdict. Messages about different ops differ in their words, so sizes and
/// numbers are removed.
std::string Verdict::key() const {
  if (kind != "error" && kind != "text" && kind != "run")
    return kind;
  runtime::Hasher hasher;
  // The variant, up to the first ": ", may change.
  std::string words;
  for (char c : StringRef(details).split(": ").second)
    if (isalpha(c) || c == '_')
      words += c;
  hasher.update(words);
  return kind + "-" + runtime::hashText(hasher.value());
}

Verdict checkProgram(StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  return Checker(text, context, seed).run();
}

} // namespace reprise::fuzz
