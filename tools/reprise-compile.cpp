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

/// No file is written twice, or over the model.
std::string checkFiles(const Flags &flags) {
  std::vector<std::string> written;
  SmallVector<std::string> outputs(flags.reports.begin(), flags.reports.end());
  outputs.push_back(flags.output);
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

/// What is wrong with the flags; empty if nothing is.
std::string checkFlags(const Flags &flags) {
  if (flags.interpret ? flags.outputDir.empty() : flags.output.empty())
    return flags.interpret ? "--interpret needs --output-dir" : "expected -o OUT.rpb";
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
  if (flags.interpret && flags.steps < 1)
    return "expected --steps of at least 1";
  if (std::string wrong;
      !flags.remarksFilter.empty() && !llvm::Regex(flags.remarksFilter).isValid(wrong))
    return "--remarks-filter: " + wrong;
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
  return reprise::runtime::checkWritable(flags.output);
}

/// Writes the bundle and the reports; no file appears before all have been written.
int writeOutputs(const reprise::Compilation &compilation, const Flags &flags) {
  auto bytes = reprise::runtime::serializeBundle(compilation.bundle);
  if (!bytes)
    return fail(flags.output + ": " + bytes.message());
  std::vector<std::unique_ptr<reprise::AtomicFile>> files;
  auto write = [&](const std::string &path, const void *data, size_t size) {
    files.push_back(std::make_unique<reprise::AtomicFile>(path));
    return files.back()->write(data, size);
  };
  bool good = write(flags.output, bytes->data(), bytes->size());
  for (const std::string &report : flags.reports) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    reprise::printReport(stream, report, compilation.report);
    good = good && write(report, text.data(), text.size());
  }
  for (auto file = files.begin(); good && file != files.end(); ++file)
    good = (*file)->commit();
  for (auto &file : files)
    if (!file->error().empty())
      return fail(file->error());
  return 0;
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

int compileModel(ModuleOp module, const Flags &flags) {
  if (reprise::runtime::Error error = checkOutputs(flags))
    return fail(error.message());
  reprise::CompileOptions options;
  options.phases = phaseOptions(flags);
  options.threads = flags.threads;
  options.costs.deviceFile = flags.deviceFile;
  options.costs.profile = flags.profile;
  FailureOr<reprise::Compilation> compilation = reprise::compile(module, options);
  if (failed(compilation))
    return 1;
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
