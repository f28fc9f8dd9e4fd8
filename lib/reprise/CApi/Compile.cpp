// reprise: compilations of the C API
#include "Handles.h"
#include "Options.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Compiler/OptionTexts.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/JsonFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::capi;

struct reprise_compilation {
  SessionPtr session;
  Compilation result;
  bool isEstimate = false, fits = true;
  std::map<std::string, std::string> reports; ///< reports by format
  std::string plan, explanation;
};

namespace {
/// Request of one call of reprise_compile.
class Request {
public:
  Request(const SessionPtr &session, ModuleOp module, const reprise_options &given)
      : session(session), module(module), given(given) {}

  reprise_error *run(reprise_compilation **compilation);

private:
  /// Read one part of the options; return an error, or an empty string.
  std::string readPhases();
  std::string readBudget();
  std::string readPerDevice();
  std::string findWrong();
  LogicalResult readPlan();
  void follow();

  const SessionPtr &session;
  ModuleOp module;
  const reprise_options &given;
  CompileOptions options;
  std::optional<llvm::json::Value> plan;
};
} // namespace

std::string Request::readPhases() {
  PhaseOptions &phases = options.phases;
  if (given.has("entry"))
    phases.entry = given.text("entry");
  phases.policies = given.texts("policy");
  phases.ignoreCheckpoints = given.isOn("ignore-checkpoints");
  phases.allowUnmatchedRules = given.isOn("allow-unmatched-rules");
  phases.verifyReplays = given.isOn("verify-replays");
  phases.unroll = given.isOn("unroll");
  if (given.has("microbatches"))
    phases.microbatches = given.integer("microbatches");
  if (given.has("lanes"))
    phases.lanes = given.integer("lanes");
  if (std::string wrong = checkContractions(given.texts("target"), given.text("contractions"));
      !wrong.empty())
    return wrong;
  StageTexts stages{given.text("stages"), given.text("schedule"), given.text("checkpoint"), 0,
                    given.text("mesh")};
  if (given.has("model-lanes"))
    stages.modelLanes = given.integer("model-lanes");
  stages.shards = given.text("shards");
  stages.gathers = given.text("gathers");
  if (given.has("chunks"))
    stages.chunks = given.integer("chunks");
  if (std::string wrong = checkStages(stages); !wrong.empty())
    return wrong;
  std::string wrong;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) { wrong = diagnostic.str(); });
  if (failed(takeGrid(module, stages)))
    return wrong;
  phases.stages = parseStages(stages);
  phases.model = parseModel(stages);
  return "";
}

std::string Request::readBudget() {
  if (given.has("threads"))
    options.threads = given.integer("threads");
  options.costs.profile = given.text("profile");
  options.estimateOnly = given.isOn("estimate");
  options.keepPlan = true;
  if (given.has("time-limit"))
    options.timeLimitSeconds = given.number("time-limit");
  if (!given.has("budget"))
    return "";
  options.budget = parseBudget(given.text("budget"));
  return options.budget ? "" : refuseBudget("budget", given.text("budget"));
}

/// Reads options per device; a single value is for all devices.
std::string Request::readPerDevice() {
  std::vector<std::string> targets = listTargets(given.texts("target"), given.text("contractions"));
  std::vector<std::string> files = given.texts("device-file");
  options.after = findPhase(module);
  size_t devices = options.after ? countPrograms(module)
                                 : static_cast<size_t>(options.phases.stages.countPrograms());
  for (auto [what, texts] : {std::pair("target", &targets), {"device-file", &files}})
    if (texts->size() > 1 && texts->size() != devices)
      return "expected one " + std::string(what) + ", or one for each device: got " +
             std::to_string(texts->size()) + " for " + std::to_string(devices);
  options.isTargetGiven = !targets.empty();
  if (!targets.empty())
    options.phases.target = targets.front();
  for (size_t i = 0; targets.size() > 1 && i < targets.size(); ++i)
    options.targets[static_cast<int64_t>(i)] = targets[i];
  if (files.size() == 1)
    options.costs.deviceFile = files.front();
  for (size_t i = 0; files.size() > 1 && i < files.size(); ++i)
    options.deviceFiles[static_cast<int64_t>(i)] = files[i];
  return "";
}

std::string Request::findWrong() {
  if (std::string wrong = checkUse(&given, ForCompile); !wrong.empty())
    return wrong;
  for (auto read : {&Request::readPhases, &Request::readBudget, &Request::readPerDevice})
    if (std::string wrong = (this->*read)(); !wrong.empty())
      return wrong;
  PhaseOptions phases = options.phases;
  std::vector<std::string> targets = listTargets(given.texts("target"), given.text("contractions"));
  targets.push_back(phases.target);
  for (const std::string &target : targets) {
    phases.target = target;
    if (std::string wrong = findWrongName(module, phases, given.has("entry")); !wrong.empty())
      return wrong;
  }
  return "";
}

LogicalResult Request::readPlan() {
  std::string text = given.text("plan"), path = given.text("plan-in");
  if (!given.has("plan") && !given.has("plan-in"))
    return success();
  if (!given.has("plan")) {
    auto bytes = runtime::readFile(path);
    if (!bytes) {
      session->say({REPRISE_ERROR, bytes.message(), path, 0, 0});
      return failure();
    }
    text.assign(bytes->begin(), bytes->end());
  }
  FailureOr<llvm::json::Value> read =
      parseJson(text, path.empty() ? "plan" : path, module.getContext());
  if (failed(read))
    return failure();
  plan = std::move(*read);
  options.plan = &*plan;
  options.planPath = path;
  return success();
}

/// Lets the host follow the compilation, and cancel it.
void Request::follow() {
  if (!session->isTold())
    return;
  options.isCancelled = [this] { return session->isCancelled(); };
  const char *between = options.budget ? "plan" : "target";
  session->setPhase("import");
  session->context.registerActionHandler(
      [this, between](function_ref<void()> run, const tracing::Action &action) {
        auto *execution = dyn_cast<PassExecutionAction>(&action);
        std::optional<Phase> own =
            execution ? phaseOfPass(execution->getPass().getArgument()) : std::nullopt;
        if (own)
          session->setPhase(phaseName(*own).data()); // a literal
        run();
        if (own >= Phase::Checkpoint)
          session->setPhase(between);
      });
}

reprise_error *Request::run(reprise_compilation **compilation) {
  if (std::string wrong = findWrong(); !wrong.empty())
    return session->fail(wrong, REPRISE_BAD_USAGE);
  if (failed(readPlan()))
    return session->fail();
  OwningOpRef<ModuleOp> copy = module.clone();
  follow();
  llvm::scope_exit end([&] {
    if (session->isTold())
      session->context.registerActionHandler(nullptr);
  });
  int64_t least = 0;
  options.leastBudget = &least;
  FailureOr<Compilation> result = compile(*copy, options);
  if (failed(result) || session->isCancelled()) {
    reprise_error *error = session->fail();
    error->leastBudget = least;
    return error;
  }
  auto made = std::make_unique<reprise_compilation>();
  made->session = session;
  made->isEstimate = options.estimateOnly;
  made->result = std::move(*result);
  std::string ignored;
  llvm::raw_string_ostream stream(ignored);
  if (made->isEstimate)
    made->fits = printEstimates(stream, made->result.programs);
  *compilation = made.release();
  return nullptr;
}

reprise_error *reprise_compile(reprise_module *module, const reprise_options *options,
                               reprise_compilation **compilation) {
  if (reprise_error *error = refuseNull({{"module", module}, {"compilation", compilation}}))
    return error;
  static const reprise_options none;
  module->session->begin();
  return Request(module->session, *module->module, options ? *options : none).run(compilation);
}

void reprise_compilation_destroy(reprise_compilation *compilation) { delete compilation; }

reprise_error *reprise_compilation_get_bundle(reprise_compilation *compilation,
                                              reprise_bundle **bundle) {
  if (reprise_error *error = refuseNull({{"compilation", compilation}, {"bundle", bundle}}))
    return error;
  SessionState &session = *compilation->session;
  session.begin();
  if (compilation->isEstimate)
    return session.fail("an estimate has no bundle: compile without 'estimate'", REPRISE_BAD_USAGE);
  auto bytes = runtime::serializeBundle(compilation->result.bundle);
  if (!bytes)
    return session.fail(bytes.message());
  return makeBundle(compilation->session, std::move(*bytes), "bundle", bundle);
}

const char *reprise_compilation_report(reprise_compilation *compilation, const char *format) {
  if (!compilation || !llvm::is_contained({"json", "html", "txt"}, StringRef(format)))
    return nullptr;
  auto [report, isNew] = compilation->reports.try_emplace(format);
  if (isNew) {
    llvm::raw_string_ostream stream(report->second);
    printReports(stream, "." + report->first, compilation->result.programs,
                 compilation->result.pipeline);
  }
  return report->second.c_str();
}

const char *reprise_compilation_plan(reprise_compilation *compilation) {
  if (!compilation)
    return "";
  if (compilation->plan.empty())
    compilation->plan =
        llvm::formatv("{0:2}\n", llvm::json::Value(writePlans(compilation->result)));
  return compilation->plan.c_str();
}

const char *reprise_compilation_explain(reprise_compilation *compilation, const char *value) {
  if (!compilation || !value)
    return nullptr;
  compilation->explanation.clear();
  llvm::raw_string_ostream stream(compilation->explanation);
  bool isKnown = false;
  for (const CompiledProgram &program : compilation->result.programs)
    isKnown |= explainValue(stream, value, program.report);
  return isKnown ? compilation->explanation.c_str() : nullptr;
}

int reprise_compilation_fits(const reprise_compilation *compilation) {
  return compilation && compilation->fits;
}
