// reprise: compiles a model file to a bundle
#include "reprise-compile/Flags.h"
#include "reprise-compile/Status.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "reprise/Compiler.h"
#include "reprise/Compiler/MeshSearch.h"
#include "reprise/InitAll.h"
#include "reprise/Reference/Steps.h"
#include "reprise/Runtime/AtomicFile.h"
#include "reprise/Runtime/File.h"
#include "reprise/Support/Diagnostics.h"
#include "reprise/Support/Guard.h"
#include "reprise/Support/JsonFile.h"
#include "reprise/Support/Locations.h"
#include "reprise/Support/Parsing.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <unistd.h>

using namespace mlir;
using reprise::Flags;

namespace {

int fail(const llvm::Twine &message) {
  reprise::printError(message);
  return 1;
}

reprise::PhaseOptions phaseOptions(const Flags &flags) {
  reprise::PhaseOptions options;
  options.entry = flags.entry;
  options.policies.assign(flags.policies.begin(), flags.policies.end());
  options.ignoreCheckpoints = flags.ignoreCheckpoints;
  options.allowUnmatchedRules = flags.allowUnmatchedRules;
  options.verifyReplays = flags.verifyReplays;
  options.microbatches = flags.microbatches;
  options.lanes = flags.lanes;
  options.stages = reprise::parseStages(reprise::stageTexts(flags));
  options.model = reprise::parseModel(reprise::stageTexts(flags));
  options.unroll = flags.unroll;
  options.target = reprise::firstTarget(flags);
  return options;
}

/// Returns the number of device programs after the compilation.
size_t countDevices(ModuleOp module, const reprise::PhaseOptions &options) {
  return reprise::findPhase(module) ? reprise::countPrograms(module)
                                    : static_cast<size_t>(options.stages.countPrograms());
}

/// Returns the fault of names and targets; empty if they are valid.
std::string findWrongName(ModuleOp module, const Flags &flags) {
  reprise::PhaseOptions options = phaseOptions(flags);
  size_t devices = countDevices(module, options);
  size_t files = std::distance(flags.deviceFiles.begin(), flags.deviceFiles.end());
  if (files > 1 && files != devices)
    return "expected one --device-file, or one for each device: got " + std::to_string(files) +
           " for " + std::to_string(devices);
  size_t given = std::distance(flags.targets.begin(), flags.targets.end());
  if (given > 1 && given != devices)
    return "expected one --target, or one for each device program: got " + std::to_string(given) +
           " for " + std::to_string(devices);
  if (!flags.pareto.empty() && reprise::findPhase(module))
    return "--pareto needs a model, and the file holds device programs";
  std::string wrong = reprise::findWrongName(module, options, flags.entry.isGiven());
  for (const std::string &target : reprise::listTargets(flags))
    if (wrong.empty()) {
      options.target = target;
      wrong = reprise::findWrongName(module, options, flags.entry.isGiven());
    }
  return wrong;
}

int interpretModel(ModuleOp module, const Flags &flags) {
  if (failed(reprise::runPhases(module, reprise::findPhase(module), reprise::Phase::Checkpoint,
                                phaseOptions(flags))))
    return 1;
  reprise::StepsOptions options;
  if (flags.seed.isGiven())
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
  for (StringRef path : reprise::singleOutputs(flags))
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
      return fail(flags.output.get() + ": " + bytes.message());
    contents.push_back({flags.output, [content = std::move(*bytes)](llvm::raw_ostream &stream) {
                          stream.write(reinterpret_cast<const char *>(content.data()),
                                       content.size());
                        }});
  }
  if (!flags.planOut.empty())
    contents.push_back({flags.planOut, [&](llvm::raw_ostream &stream) {
                          printJson(stream, reprise::writePlans(compilation));
                        }});
  for (const std::string &report : flags.reports)
    contents.push_back({report, [&](llvm::raw_ostream &stream) {
                          reprise::printReports(stream, report, compilation.programs,
                                                compilation.pipeline);
                        }});
  return writeFiles(contents);
}

int explainValues(const reprise::Compilation &compilation, const Flags &flags) {
  for (const std::string &value : flags.explain) {
    bool isExplained = false;
    std::string nearest;
    for (const reprise::CompiledProgram &program : compilation.programs) {
      isExplained |= reprise::explainValue(llvm::outs(), value, program.report);
      if (nearest.empty())
        nearest = reprise::findNearestValue(value, program.report);
    }
    if (isExplained)
      continue;
    return fail("the forward pass has no value '" + value + "'" +
                (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"));
  }
  return 0;
}

/// Reads the plan of --plan-in, and reports its fault.
FailureOr<llvm::json::Value> readPlan(const std::string &path, MLIRContext *context) {
  auto bytes = reprise::runtime::readFile(path);
  if (!bytes)
    return reprise::emitUnreadable(reprise::getFlagLocation(context, "--plan-in=" + path), path,
                                   bytes.message());
  StringRef text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  return reprise::parseJson(text, path, context);
}

/// Writes the curve, alone or before the compilation.
int writePareto(ModuleOp module, const reprise::CompileOptions &options, const Flags &flags) {
  FailureOr<llvm::json::Object> curve = reprise::findPareto(module, options);
  if (failed(curve))
    return 1;
  return writeFiles({{flags.pareto, [&](llvm::raw_ostream &stream) {
                        reprise::printPareto(stream, flags.pareto.get(), *curve);
                      }}});
}

reprise::CompileOptions compileOptions(ModuleOp module, const Flags &flags) {
  reprise::CompileOptions options;
  options.phases = phaseOptions(flags);
  options.after = reprise::findPhase(module);
  for (const std::string &target : reprise::listTargets(flags))
    options.targets[static_cast<int64_t>(options.targets.size())] = target;
  if (options.targets.size() == 1) // target of all devices
    options.targets.clear();
  options.isTargetGiven = !flags.targets.empty();
  options.threads = flags.threads;
  for (const std::string &file : flags.deviceFiles)
    options.deviceFiles[static_cast<int64_t>(options.deviceFiles.size())] = file;
  if (options.deviceFiles.size() == 1) { // file of all devices
    options.costs.deviceFile = options.deviceFiles[0];
    options.deviceFiles.clear();
  }
  options.costs.profile = flags.profile;
  if (!flags.budget.empty())
    options.budget = reprise::parseBudget(flags.budget.get());
  if (flags.timeLimit.isGiven())
    options.timeLimitSeconds = flags.timeLimit;
  options.estimateOnly = flags.estimate;
  options.keepPlan = !flags.planOut.empty();
  return options;
}

/// Prints the fastest meshes, and writes the reports.
int searchMesh(ModuleOp module, const Flags &flags) {
  if (reprise::runtime::Error error = checkOutputs(flags))
    return fail(error.message());
  if (reprise::findPhase(module))
    return fail("--mesh=auto needs a model, and the file holds device programs");
  FailureOr<reprise::ReportedMesh> mesh = reprise::searchMesh(
      module, compileOptions(module, flags), reprise::parseSpace(reprise::stageTexts(flags)));
  if (failed(mesh))
    return 1;
  std::vector<std::pair<std::string, Printer>> contents;
  for (const std::string &report : flags.reports)
    contents.push_back({report, [&](llvm::raw_ostream &stream) {
                          if (StringRef(report).ends_with(".json"))
                            printJson(stream, reprise::toJson(*mesh));
                          else
                            reprise::printMesh(stream, *mesh);
                        }});
  reprise::printMesh(llvm::outs(), *mesh);
  llvm::outs().flush();
  if (int code = writeFiles(contents))
    return code;
  return mesh->best.empty() ? fail("no mesh fits") : 0;
}

/// Prints a summary of a written bundle to the terminal.
void printSummary(const reprise::Compilation &compilation, const Flags &flags) {
  if (compilation.pipeline && (flags.estimate || isatty(STDERR_FILENO)))
    (flags.estimate ? llvm::outs() : llvm::errs())
        << (flags.estimate ? "\n" : flags.output.get() + ": ")
        << reprise::summarize(*compilation.pipeline) << "\n";
  for (const reprise::CompiledProgram &program : compilation.programs)
    if (isatty(STDERR_FILENO) && !flags.output.empty())
      llvm::errs() << flags.output.get() << ": "
                   << (compilation.programs.size() > 1 ? program.name + ": " : "")
                   << reprise::summarize(program.report) << "\n";
}

int compileModel(ModuleOp module, const Flags &flags) {
  if (reprise::runtime::Error error = checkOutputs(flags))
    return fail(error.message());
  reprise::CompileOptions options = compileOptions(module, flags);
  FailureOr<llvm::json::Value> plan = failure();
  if (!flags.planIn.empty()) {
    plan = readPlan(flags.planIn, module.getContext());
    if (failed(plan))
      return 1;
    options.plan = &*plan;
    options.planPath = flags.planIn;
  }
  reprise::Status status(*module.getContext(),
                         flags.budget.empty() && flags.pareto.empty() ? "compile kernels" : "plan");
  options.tell = [&](const std::string &progress) { status.tell(progress); };
  if (!flags.pareto.empty())
    if (int code = writePareto(module, options, flags))
      return code;
  if (flags.output.empty() && !flags.estimate)
    return 0;
  FailureOr<reprise::Compilation> compilation = reprise::compile(module, options);
  status.end();
  if (failed(compilation))
    return 1;
  bool fits = true;
  if (flags.estimate)
    fits = reprise::printEstimates(llvm::outs(), compilation->programs);
  if (int code = explainValues(*compilation, flags))
    return code;
  if (int code = writeOutputs(*compilation, flags))
    return code;
  printSummary(*compilation, flags);
  return fits ? 0 : 1;
}

/// Remarks go where all other messages go.
LogicalResult enableRemarks(MLIRContext &context, const std::string &filter) {
  if (filter.empty())
    return success();
  // A kind without its own filter, even an empty one, is off.
  remark::RemarkCategories categories{filter, "", "", "", ""};
  return remark::enableOptimizationRemarks(
      context, nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

} // namespace

int main(int argc, char **argv) {
  reprise::setToolName("reprise-compile");
  reprise::deepenStack();
  llvm::InitLLVM init(argc, argv);
  reprise::survivePoverty();
  Flags flags;
  if (std::optional<int> code = flags.parse(argc, argv))
    return *code;
  if (std::string wrong = reprise::checkFlags(flags); !wrong.empty())
    return flags.refuse(wrong);
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<llvm::SourceMgr>();
  SourceMgrDiagnosticHandler handler(*sources, &context);
  if (failed(enableRemarks(context, flags.remarksFilter)))
    return 1;
  OwningOpRef<ModuleOp> module = reprise::parseModelFile(flags.model.get(), context, sources);
  if (!module)
    return 1;
  reprise::StageTexts texts = reprise::stageTexts(flags);
  if (failed(reprise::takeGrid(*module, texts)))
    return 1;
  flags.completed = texts;
  std::string wrong = findWrongName(*module, flags);
  if (wrong.empty())
    wrong = reprise::checkFlags(flags); // the model's mesh may not go with other flags
  if (!wrong.empty()) {
    fail(wrong);
    return 2;
  }
  if (reprise::isMeshSearched(reprise::stageTexts(flags)))
    return searchMesh(*module, flags);
  return flags.interpret ? interpretModel(*module, flags) : compileModel(*module, flags);
}
