// reprise: compiles a model file to a bundle
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "reprise/Compiler.h"
#include "reprise/InitAll.h"
#include "reprise/Reference/Steps.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/CommandLine.h"
#include "reprise/Support/Guard.h"
#include "reprise/Support/Parsing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

struct Flags {
  cl::opt<std::string> model{cl::Positional, cl::desc("MODEL.mlir"), cl::Required};
  cl::opt<std::string> output{"o", cl::desc("The bundle to write"), cl::value_desc("OUT.rpb")};
  cl::opt<std::string> entry{"entry", cl::desc("The function to compile"), cl::init("train")};
  cl::list<std::string> policies{
      "policy", cl::desc("A policy, built in or a rule file (PATH.json); may be repeated")};
  cl::opt<bool> allowUnmatchedRules{"allow-unmatched-rules",
                                    cl::desc("A rule that matches nothing is a warning")};
  cl::opt<bool> ignoreCheckpoints{"ignore-checkpoints",
                                  cl::desc("Read checkpoints as plain blocks")};
  cl::opt<bool> unroll{"unroll", cl::desc("Replace loops by their iterations: the same bits")};
  cl::opt<std::string> target{
      "target", cl::desc("cpu, cpu:native, cpu:x86-64-v3, cpu:x86-64-v4 or cuda:sm_NN"),
      cl::init("cpu")};
  cl::opt<std::string> contractions{"contractions", cl::desc("exact: as on every CPU"),
                                    cl::init("exact")};
  cl::opt<unsigned> threads{
      "threads", cl::desc("Workers that the workspace is reckoned for (default: the cores)"),
      cl::init(0)};
  cl::opt<std::string> deviceFile{
      "device-file", cl::desc("Rates of the device, for the cost model (docs/device.schema.json)"),
      cl::value_desc("D.json")};
  cl::opt<std::string> profile{
      "profile", cl::desc("Seconds that reprise-run --profile-out measured, for the cost model"),
      cl::value_desc("T.json")};
  cl::opt<std::string> budget{
      "budget",
      cl::desc(
          "What arena and workspace may take: bytes, 1.5GiB, or 60% of what they take if every "
          "value is saved"),
      cl::value_desc("BYTES|N%")};
  cl::opt<double> timeLimit{
      "time-limit", cl::desc("Seconds that the search for a plan may take; it ends with its best"),
      cl::value_desc("S")};
  cl::opt<std::string> planIn{"plan-in", cl::desc("Carry out a plan that --plan-out wrote"),
                              cl::value_desc("F.json")};
  cl::opt<std::string> planOut{"plan-out", cl::desc("Write the plan: what is saved and replayed"),
                               cl::value_desc("F.json")};
  cl::opt<std::string> pareto{
      "pareto",
      cl::desc("Write the curve of memory and time, with named policies: F.html or F.json"),
      cl::value_desc("F")};
  cl::opt<bool> estimate{
      "estimate",
      cl::desc("Print what the step takes, and what lies at the peak; write no bundle")};
  cl::list<std::string> reports{
      "report", cl::desc("Write a report: F.json, F.html or F.txt; may be repeated"),
      cl::value_desc("F")};
  cl::list<std::string> explain{
      "explain", cl::desc("Tell what is done with a value, and why; may be repeated"),
      cl::value_desc("VALUE")};
  cl::opt<std::string> remarksFilter{
      "remarks-filter",
      cl::desc("Print the MLIR remarks of matching categories: checkpoint, one per value"),
      cl::value_desc("REGEX")};
  cl::opt<bool> verifyReplays{
      "verify-replays",
      cl::desc("Runs of the bundle compare every replayed value with its original")};
  cl::opt<bool> interpret{"interpret",
                          cl::desc("Run the reference interpreter instead of compiling")};
  cl::opt<int64_t> seed{"seed", cl::desc("With --interpret: the seed"), cl::init(0)};
  cl::opt<int64_t> steps{"steps", cl::desc("With --interpret: the number of steps"), cl::init(1)};
  cl::opt<std::string> inputDir{
      "input-dir", cl::desc("With --interpret: go on from the folder of an earlier run")};
  cl::opt<std::string> outputDir{"output-dir", cl::desc("With --interpret: the folder to write")};
};

/// The files that are written beside reports.
SmallVector<StringRef> singleOutputs(const Flags &flags) {
  SmallVector<StringRef> outputs;
  for (const cl::opt<std::string> *flag : {&flags.output, &flags.planOut, &flags.pareto})
    if (!flag->empty())
      outputs.push_back(*flag);
  return outputs;
}

/// No file is written twice, or over the model.
std::string checkFiles(const Flags &flags) {
  std::vector<std::string> written;
  SmallVector<std::string> outputs(flags.reports.begin(), flags.reports.end());
  for (StringRef path : singleOutputs(flags))
    outputs.push_back(path.str());
  for (const std::string &path : outputs) {
    auto same = [&](const std::string &other) { return reprise::runtime::isSameFile(path, other); };
    if (llvm::any_of(written, same))
      return "'" + path + "' is written twice";
    if (same(flags.model) || same(flags.deviceFile) || same(flags.profile))
      return "'" + path + "' is read and written";
    written.push_back(path);
  }
  return "";
}

/// Reads `1500000`, `1.5GiB` or `60%`; none if it is neither.
std::optional<reprise::Budget> parseBudget(StringRef text) {
  static constexpr std::pair<StringLiteral, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1},        {"", 1}};
  bool isShare = text.consume_back("%");
  double scale = 1;
  for (auto [unit, bytes] : units)
    if (!isShare && text.consume_back(unit)) {
      scale = bytes;
      break;
    }
  double number = 0;
  bool isNumber = !text.empty() && llvm::isDigit(text.front()) && !text.getAsDouble(number);
  if (!isNumber || !(number * scale < 0x1p62))
    return std::nullopt;
  reprise::Budget budget;
  if (isShare)
    budget.share = number / 100;
  else
    budget.bytes = static_cast<int64_t>(number * scale);
  return budget;
}

/// What is wrong with the flags; empty if nothing is.
std::string checkFlags(const Flags &flags) {
  bool isCompiled = !flags.interpret && !flags.estimate && flags.pareto.empty();
  if (flags.interpret && flags.outputDir.empty())
    return "--interpret needs --output-dir";
  if (isCompiled && flags.output.empty())
    return "expected -o OUT.rpb";
  if (flags.estimate && !flags.output.empty())
    return "--estimate writes no bundle: -o does not go with it";
  if (!flags.interpret && (flags.seed.getNumOccurrences() || flags.steps.getNumOccurrences() ||
                           !flags.inputDir.empty() || !flags.outputDir.empty()))
    return "--seed, --steps, --input-dir and --output-dir go with --interpret";
  if (flags.interpret && flags.verifyReplays)
    return "--verify-replays goes with -o: the bundle's runs compare";
  if (flags.interpret &&
      (!flags.output.empty() || !flags.reports.empty() || !flags.explain.empty()))
    return "-o, --report and --explain do not go with --interpret";
  if (flags.interpret && (!flags.deviceFile.empty() || !flags.profile.empty()))
    return "--device-file and --profile do not go with --interpret";
  if (flags.interpret && (!flags.planIn.empty() || !flags.planOut.empty() ||
                          !flags.budget.empty() || !flags.pareto.empty() || flags.estimate))
    return "budgets and plans do not go with --interpret, which gives the same bits under any";
  if (!flags.pareto.empty() && !StringRef(flags.pareto).ends_with(".json") &&
      !StringRef(flags.pareto).ends_with(".html"))
    return "expected --pareto=F.html or F.json, got '" + flags.pareto + "'";
  if (flags.interpret && flags.steps < 1)
    return "expected --steps of at least 1";
  if (std::string wrong;
      !flags.remarksFilter.empty() && !llvm::Regex(flags.remarksFilter).isValid(wrong))
    return "--remarks-filter: " + wrong;
  if (!flags.budget.empty() && !parseBudget(flags.budget))
    return "expected --budget as bytes, such as 1.5GiB, or as a share, such as 60%, got '" +
           flags.budget + "'";
  if (flags.timeLimit.getNumOccurrences() && !(flags.timeLimit >= 0))
    return "expected --time-limit of at least 0 seconds";
  if (flags.contractions != "exact")
    return "unknown contractions '" + flags.contractions + "', expected exact";
  for (StringRef report : flags.reports)
    if (!report.ends_with(".json") && !report.ends_with(".html") && !report.ends_with(".txt"))
      return ("expected a report named *.json, *.html or *.txt, got '" + report + "'").str();
  if (flags.threads.getNumOccurrences() && (flags.threads < 1 || flags.threads > 4096))
    return "expected --threads from 1 to 4096";
  return flags.interpret ? "" : checkFiles(flags);
}

int fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return 1;
}

reprise::PhaseOptions phaseOptions(const Flags &flags) {
  reprise::PhaseOptions options;
  options.entry = flags.entry;
  options.policies.assign(flags.policies.begin(), flags.policies.end());
  options.ignoreCheckpoints = flags.ignoreCheckpoints;
  options.allowUnmatchedRules = flags.allowUnmatchedRules;
  options.verifyReplays = flags.verifyReplays;
  options.unroll = flags.unroll;
  options.target = flags.target;
  return options;
}

int interpretModel(ModuleOp module, const Flags &flags) {
  if (failed(reprise::runPhases(module, reprise::Phase::Checkpoint, phaseOptions(flags))))
    return 1;
  reprise::StepsOptions options;
  if (flags.seed.getNumOccurrences())
    options.seed = flags.seed;
  options.steps = flags.steps;
  options.inputDir = flags.inputDir;
  options.outputDir = flags.outputDir;
  std::string error;
  if (succeeded(reprise::interpretSteps(module, options, error)))
    return 0;
  return error.empty() ? 1 : fail(error);
}

/// Lets an output that cannot be written fail before the work.
reprise::runtime::Error checkOutputs(const Flags &flags) {
  for (const std::string &report : flags.reports)
    if (reprise::runtime::Error error = reprise::runtime::checkWritable(report))
      return error;
  for (StringRef path : singleOutputs(flags))
    if (reprise::runtime::Error error = reprise::runtime::checkWritable(path.str()))
      return error;
  return reprise::runtime::Error::success();
}

using Printer = std::function<void(llvm::raw_ostream &)>;

/// Writes files; none appears before all have been written.
int writeFiles(const std::vector<std::pair<std::string, Printer>> &contents) {
  std::vector<std::unique_ptr<reprise::AtomicFile>> files;
  bool good = true;
  for (const auto &[path, print] : contents) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    print(stream);
    files.push_back(std::make_unique<reprise::AtomicFile>(path));
    good = good && files.back()->write(text.data(), text.size());
  }
  for (auto file = files.begin(); good && file != files.end(); ++file)
    good = (*file)->commit();
  for (auto &file : files)
    if (!file->error().empty())
      return fail(file->error());
  return 0;
}

void printJson(llvm::raw_ostream &stream, const llvm::json::Object &object) {
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(object)));
}

/// Writes the bundle, the plan and the reports.
int writeOutputs(const reprise::Compilation &compilation, const Flags &flags) {
  std::vector<std::pair<std::string, Printer>> contents;
  if (!flags.output.empty()) {
    auto bytes = reprise::runtime::serializeBundle(compilation.bundle);
    if (!bytes)
      return fail(flags.output + ": " + bytes.message());
    contents.push_back({flags.output, [content = std::move(*bytes)](llvm::raw_ostream &stream) {
                          stream.write(reinterpret_cast<const char *>(content.data()),
                                       content.size());
                        }});
  }
  if (!flags.planOut.empty())
    contents.push_back(
        {flags.planOut, [&](llvm::raw_ostream &stream) { printJson(stream, compilation.plan); }});
  for (const std::string &report : flags.reports)
    contents.push_back({report, [&](llvm::raw_ostream &stream) {
                          reprise::printReport(stream, report, compilation.report);
                        }});
  return writeFiles(contents);
}

int explainValues(const reprise::Compilation &compilation, const Flags &flags) {
  for (const std::string &value : flags.explain) {
    if (reprise::explainValue(llvm::outs(), value, compilation.report))
      continue;
    std::string nearest = reprise::findNearestValue(value, compilation.report);
    return fail("the forward pass has no value '" + value + "'" +
                (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"));
  }
  return 0;
}

/// The plan of --plan-in; none with an error in `message`.
std::optional<llvm::json::Value> readPlan(const std::string &path, std::string &message) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    message = "cannot read '" + path + "': " + file.getError().message();
    return std::nullopt;
  }
  auto plan = llvm::json::parse((*file)->getBuffer());
  if (plan)
    return std::move(*plan);
  message = path + ": " + llvm::toString(plan.takeError());
  return std::nullopt;
}

/// The curve alone, or before the compilation.
int writePareto(ModuleOp module, const reprise::CompileOptions &options, const Flags &flags) {
  FailureOr<llvm::json::Object> curve = reprise::findPareto(module, options);
  if (failed(curve))
    return 1;
  return writeFiles({{flags.pareto, [&](llvm::raw_ostream &stream) {
                        reprise::printPareto(stream, flags.pareto, *curve);
                      }}});
}

int compileModel(ModuleOp module, const Flags &flags) {
  if (reprise::runtime::Error error = checkOutputs(flags))
    return fail(error.message());
  reprise::CompileOptions options;
  options.phases = phaseOptions(flags);
  options.threads = flags.threads;
  options.costs.deviceFile = flags.deviceFile;
  options.costs.profile = flags.profile;
  if (!flags.budget.empty())
    options.budget = parseBudget(flags.budget);
  if (flags.timeLimit.getNumOccurrences())
    options.timeLimitSeconds = flags.timeLimit;
  options.estimateOnly = flags.estimate;
  options.keepPlan = !flags.planOut.empty();
  std::optional<llvm::json::Value> plan;
  if (!flags.planIn.empty()) {
    std::string message;
    plan = readPlan(flags.planIn, message);
    if (!plan)
      return fail(message);
    options.plan = &*plan;
  }
  if (!flags.pareto.empty())
    if (int code = writePareto(module, options, flags))
      return code;
  if (flags.output.empty() && !flags.estimate)
    return 0;
  FailureOr<reprise::Compilation> compilation = reprise::compile(module, options);
  if (failed(compilation))
    return 1;
  if (flags.estimate)
    reprise::printEstimate(llvm::outs(), compilation->report);
  if (int code = explainValues(*compilation, flags))
    return code;
  return writeOutputs(*compilation, flags);
}

/// Remarks go where all other messages go.
LogicalResult enableRemarks(MLIRContext &context, const std::string &filter) {
  if (filter.empty())
    return success();
  // A kind without a filter of its own, be it empty, is off.
  remark::RemarkCategories categories{filter, "", "", "", ""};
  return remark::enableOptimizationRemarks(
      context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  reprise::survivePoverty();
  // LLVM's libraries register flags of their own, `threads` among them.
  cl::ResetCommandLineParser();
  Flags flags;
  cl::OptionCategory category("Options");
  reprise::listFlags(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Compiles a training step to a bundle\n",
                                   &llvm::errs()))
    return 2;
  if (std::string wrong = checkFlags(flags); !wrong.empty()) {
    llvm::WithColor::error() << wrong << "\n";
    return 2;
  }
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  SourceMgrDiagnosticHandler handler(*sources, &context);
  if (failed(enableRemarks(context, flags.remarksFilter)))
    return 1;
  OwningOpRef<ModuleOp> module = reprise::parseModelFile(flags.model, context, sources);
  if (!module)
    return 1;
  return flags.interpret ? interpretModel(*module, flags) : compileModel(*module, flags);
}
