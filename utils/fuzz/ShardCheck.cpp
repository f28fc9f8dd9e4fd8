// reprise: compares a step on parts of a model, stages and replicas with one device
#include "Check.h"
#include "Ops.h"
#include "Run.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reprise/Compiler.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Reference/Steps.h"
#include "reprise/Support/Wording.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace reprise::fuzz {

/// Phrases of errors that refuse a step or a mesh. Every other error is a fault.
static constexpr StringLiteral kRefusals[] = {
    "couples the samples of a batch",       "reads both a total over the batch",
    "samples cannot share evenly",          "have no variance",
    "each micro-batch has its own",         "can be cut into at most",
    "orders a forward and a backward pass", "expected the schedule gpipe, 1f1b or interleaved-1f1b",
    "kernels of attention take heads of",   "a step that pauses"};

static constexpr int64_t kSteps = 2;

/// Mesh, and what else may differ without a change of bits.
namespace {
struct Mesh {
  int64_t parts = 1, replicas = 1, stages = 1;
  std::string schedule = "", gathers = "", policy = "", checkpoint = "";
  bool unroll = false;

  std::string text() const {
    return std::to_string(replicas) + " x " + std::to_string(stages) + " x " +
           std::to_string(parts) + (schedule.empty() ? "" : " " + schedule) +
           (gathers.empty() ? "" : ", gathers " + gathers) + (policy.empty() ? "" : ", " + policy) +
           (checkpoint.empty() ? "" : ", checkpoint " + checkpoint) + (unroll ? ", unrolled" : "");
  }
};

class ShardChecker {
public:
  ShardChecker(StringRef text, MLIRContext *context, std::optional<uint64_t> seed)
      : text(text), context(context), random(seed.value_or(0)), isThorough(!seed),
        seed(random.below(1000)) {}

  Verdict run();

private:
  bool fail(StringRef kind, const Twine &details) {
    verdict.kind = kind.str();
    verdict.details = details.str();
    return false;
  }
  bool isRefused() const {
    return llvm::any_of(kRefusals,
                        [&](StringRef words) { return StringRef(diagnostics).contains(words); });
  }
  bool readProgram();
  bool writeRules();
  bool dropRule();
  PhaseOptions makePhases(const Mesh &mesh) const;
  bool interpret(const Mesh &mesh, std::optional<Outcome> &outcome);
  bool compare(const Mesh &mesh, const Outcome &expected);
  bool compileAndRun(const Mesh &mesh, const Outcome &expected, std::optional<Budget> budget);
  bool checkLanes(int64_t lanes);
  Mesh drawMesh();
  int64_t drawPower(int64_t most);

  StringRef text;
  MLIRContext *context;
  Random random;
  bool isThorough;
  int64_t seed, batch = 0, modelLanes = 1, microbatches = 1, lanes = 1, leastBytes = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> rules; ///< by argument: dimension, size
  SmallString<128> path;                                    ///< file of rules
  Verdict verdict;
  std::string diagnostics;
};
} // namespace

/// Reads the rules from the names of arguments, `NAME.cutDIM`, and the batch.
bool ShardChecker::readProgram() {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module)
    return fail("text", "it cannot be parsed: " + diagnostics);
  module->walk([&](Operation *op) {
    if (isa_and_nonnull<RepriseDialect>(op->getDialect()))
      verdict.generated.insert(op->getName().getStringRef().str());
  });
  auto entry = module->lookupSymbol<func::FuncOp>("train");
  EntrySignature signature(entry);
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (std::optional<int64_t> dim = signature.getBatchDim(i))
      batch = type.getDimSize(*dim);
    StringAttr name = signature.getArgumentName(i);
    int64_t dim = 0;
    if (name && !name.getValue().split(".cut").second.getAsInteger(10, dim))
      rules[name.str()] = {dim, type.getDimSize(dim)};
  }
  return true;
}

bool ShardChecker::writeRules() {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  auto entry = module->lookupSymbol<func::FuncOp>("train");
  EntrySignature signature(entry);
  llvm::json::Array list;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    StringAttr name = signature.getArgumentName(i);
    auto rule = name ? rules.find(name.str()) : rules.end();
    if (rule == rules.end())
      continue;
    llvm::json::Array shard;
    for (int64_t dim = 0; dim < cast<RankedTensorType>(entry.getArgumentTypes()[i]).getRank();
         ++dim)
      shard.push_back(dim == rule->second.first ? llvm::json::Value("model") : nullptr);
    list.push_back(llvm::json::Object{{"match", llvm::json::Object{{"name", rule->first}}},
                                      {"shard", std::move(shard)}});
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  stream << llvm::json::Value(llvm::json::Object{{"version", 1}, {"rules", std::move(list)}});
  stream.close();
  return !stream.has_error() || fail("error", "cannot write " + path);
}

/// Drops the rule that the error is about, if it must be refused; fails otherwise.
bool ShardChecker::dropRule() {
  StringRef said(diagnostics);
  bool isUneven = said.contains("lanes divide, dimension");
  if (!isUneven && !said.contains("no op can be cut along dimension"))
    return false;
  auto name = said.split("of '").second.split('\'').first.str();
  auto rule = rules.find(name);
  if (rule == rules.end() ||
      isUneven != (rule->second.second == 0 || rule->second.second % modelLanes != 0))
    return fail("error", "a rule is refused for another reason than its own: " + diagnostics);
  rules.erase(rule);
  return true;
}

PhaseOptions ShardChecker::makePhases(const Mesh &mesh) const {
  PhaseOptions phases;
  phases.microbatches = microbatches;
  phases.lanes = lanes;
  phases.model = {modelLanes, path.str().str()};
  phases.stages.modelParts = mesh.parts;
  phases.stages.replicas = mesh.replicas;
  phases.stages.devices = mesh.stages;
  phases.stages.schedule = mesh.schedule;
  phases.stages.gathers = mesh.gathers;
  phases.stages.checkpoint = mesh.checkpoint;
  phases.stages.leastPart = 64;
  phases.unroll = mesh.unroll;
  if (!mesh.policy.empty())
    phases.policies = {mesh.policy};
  return phases;
}

/// Interprets two steps. The outcome is empty if the mesh is refused.
bool ShardChecker::interpret(const Mesh &mesh, std::optional<Outcome> &outcome) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  diagnostics.clear();
  outcome.reset();
  if (failed(runPhases(*module, Phase::Checkpoint, makePhases(mesh))))
    return isRefused() || fail("error", mesh.text() + ": " + diagnostics);
  StepsOptions options;
  options.seed = seed;
  options.steps = kSteps;
  std::string error;
  FailureOr<StepsReport> report = interpretSteps(*module, options, error);
  if (failed(report))
    return fail("error", mesh.text() + ", interpreted: " + error + diagnostics);
  outcome = {report->hash, report->next.offset};
  return true;
}

bool ShardChecker::compare(const Mesh &mesh, const Outcome &expected) {
  std::optional<Outcome> outcome;
  if (!interpret(mesh, outcome))
    return false;
  verdict.budgets.insert(outcome ? mesh.parts > 1 ? "meshes-with-parts" : "meshes"
                                 : "refused-meshes");
  if (!outcome || outcome->text() == expected.text())
    return true;
  return fail("mismatch", mesh.text() + ": " + outcome->text() + ", one device " + expected.text());
}

/// Compiles for the mesh, and runs all programs in one process. A budget that is too small is
/// replaced by the one that the error names.
bool ShardChecker::compileAndRun(const Mesh &mesh, const Outcome &expected,
                                 std::optional<Budget> budget) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  CompileOptions options;
  options.phases = makePhases(mesh);
  options.threads = 2;
  options.budget = budget;
  options.timeLimitSeconds = 0;
  options.leastBudget = &leastBytes;
  diagnostics.clear();
  FailureOr<Compilation> compilation = compile(*module, options);
  std::string name = mesh.text() + (budget ? " within a budget" : "");
  if (failed(compilation) && isRefused())
    return true;
  if (failed(compilation) && budget && StringRef(diagnostics).contains("does not fit in") &&
      leastBytes > (budget->bytes ? *budget->bytes : 0)) {
    verdict.budgets.insert(kTooSmall);
    return compileAndRun(mesh, expected, Budget{leastBytes, std::nullopt});
  }
  if (failed(compilation))
    return fail("error", name + ", compiled: " + diagnostics);
  RunOptions run{name, 2, seed, kSteps, false, {}};
  if (Failure failure = runBundle(compilation->bundle, run, expected))
    return fail(failure.kind, failure.details);
  if (budget)
    verdict.budgets.insert(kHeld);
  return true;
}

int64_t ShardChecker::drawPower(int64_t most) {
  SmallVector<int64_t> powers;
  for (int64_t each = 1; each <= most; each *= 2)
    if (most % each == 0)
      powers.push_back(each);
  return random.pick(powers);
}

Mesh ShardChecker::drawMesh() {
  Mesh mesh;
  mesh.parts = random.chance(20) ? 1 : drawPower(modelLanes);
  mesh.replicas = random.chance(40) ? 1 : lanes / drawPower(lanes);
  mesh.stages = random.chance(60) ? 1 : random.within(2, 3);
  if (mesh.stages > 1)
    mesh.schedule = random.pick(ArrayRef<const char *>{"gpipe", "1f1b", "1f1b", "zb-h1"});
  if (mesh.replicas > 1 || mesh.parts > 1)
    mesh.gathers = random.pick(ArrayRef<const char *>{"", "saved", "replayed"});
  if (random.chance(40))
    mesh.policy = "recompute-all";
  if (mesh.parts * mesh.replicas * mesh.stages > 1 && random.chance(30))
    mesh.checkpoint = random.pick(ArrayRef<const char *>{"always", "except-last", "never"});
  mesh.unroll = random.chance(20);
  return mesh;
}

/// Checks all meshes with a number of lanes of contractions, whose order is that of one device.
bool ShardChecker::checkLanes(int64_t number) {
  modelLanes = number;
  auto all = rules;
  std::optional<Outcome> one;
  while (!rules.empty() && writeRules() && !interpret({}, one)) {
    if (!dropRule())
      return false;
    verdict.kind.clear();
    verdict.details.clear();
  }
  if (!verdict.kind.empty())
    return false;
  bool hasRules = !rules.empty();
  if (hasRules && one) {
    int64_t own = std::exchange(modelLanes, 1);
    std::optional<Outcome> chain;
    if (!interpret({}, chain))
      return false;
    modelLanes = own;
    if (chain && chain->hash != one->hash)
      verdict.budgets.insert("steps-whose-bits-lanes-change");
  }
  verdict.budgets.insert(!hasRules ? "no-rule-left" : one ? "steps-with-rules" : "refused-steps");
  if (hasRules && one) {
    for (int64_t i = isThorough ? 12 : 3; i > 0; --i)
      if (!compare(drawMesh(), *one))
        return false;
    for (int64_t i = isThorough ? 3 : random.chance(35); i > 0; --i) {
      std::optional<Budget> budget;
      if (random.chance(60))
        budget = Budget{std::nullopt, random.within(30, 100) / 100.0};
      if (!compileAndRun(i == 1 ? Mesh() : drawMesh(), *one, std::nullopt) ||
          !compileAndRun(drawMesh(), *one, budget))
        return false;
    }
  }
  rules = all;
  return true;
}

Verdict ShardChecker::run() {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostics += diagnostic.str() + "\n";
    return success();
  });
  int file;
  if (llvm::sys::fs::createTemporaryFile("reprise-fuzz", "json", file, path)) {
    fail("error", "no temporary file");
    return verdict;
  }
  llvm::sys::Process::SafelyCloseFileDescriptor(file);
  if (readProgram()) {
    if (batch >= 2 && random.chance(70)) {
      microbatches =
          isThorough ? std::min<int64_t>(batch, 4) : random.within(2, std::min<int64_t>(batch, 8));
      lanes = random.chance(60) ? microbatches : drawPower(microbatches);
    }
    if (isThorough)
      (void)(checkLanes(2) && checkLanes(4) && checkLanes(8));
    else
      (void)checkLanes(int64_t(1) << random.within(1, 3));
  }
  llvm::sys::fs::remove(path);
  return verdict;
}

Verdict checkShards(StringRef text, MLIRContext *context, std::optional<uint64_t> seed) {
  return ShardChecker(text, context, seed).run();
}

} // namespace reprise::fuzz
