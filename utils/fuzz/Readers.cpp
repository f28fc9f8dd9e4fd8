// reprise: files read as the tools read them, in this process
#include "Readers.h"

#include "reprise/Compiler.h"
#include "reprise/PlanTexts/Offsets.h"
#include "reprise/PlanTexts/Pipeline.h"
#include "reprise/PlanTexts/Plan.h"
#include "reprise/Runtime/File.h"
#include "reprise/Runtime/Npy.h"
#include "reprise/Runtime/RunRecord.h"
#include "reprise/Runtime/Safetensors.h"
#include "reprise/Support/JsonFile.h"
#include "reprise/Support/Parsing.h"
#include "llvm/Support/DJB.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace reprise::fuzz {

static std::string readText(const std::string &path) {
  auto bytes = runtime::readFile(path);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string();
}

/// Prints the error as the tools do, to see that it can be printed.
static bool accept(llvm::Error error) {
  if (!error)
    return true;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return false;
}

const std::map<std::string, Readers::Reader> &Readers::table() {
  static const std::map<std::string, Reader> readers = {
      {"array", &Readers::readArray},     {"bundle", &Readers::readBundle},
      {"bytecode", &Readers::readModel},  {"device", &Readers::readDevice},
      {"folder", &Readers::readRecord},   {"model", &Readers::readModel},
      {"offsets", &Readers::readBuffers}, {"pipeline", &Readers::readPipeline},
      {"plan", &Readers::readPlan},       {"policy", &Readers::readRules},
      {"problem", &Readers::readProblem}, {"profile", &Readers::readProfile},
      {"tensors", &Readers::readTensors},
  };
  return readers;
}

bool Readers::has(const std::string &kind) { return table().count(kind); }

bool Readers::isText(const std::string &kind) {
  return kind != "array" && kind != "bundle" && kind != "bytecode" && kind != "tensors";
}

void Readers::prepare(const std::string &kind, const std::string &original) {
  if (kind != "plan" && kind != "profile" && kind != "policy" && kind != "device")
    return;
  std::string name = original.substr(0, original.find('.'));
  std::string path = folder + "/model/" + name + ".mlir";
  if (!llvm::sys::fs::exists(path))
    path = folder + "/model/gpt2.mlir";
  OwningOpRef<ModuleOp> &module = models[original];
  if (!module)
    module = parseModelFile(path, *context);
}

bool Readers::read(const std::string &kind, const std::string &original, const std::string &path) {
  auto found = models.find(original);
  model = found == models.end() ? ModuleOp() : *found->second;
  return (this->*table().at(kind))(path);
}

/// Tells whether a model is small enough to be taken through the phases in a second.
static bool isSmall(ModuleOp module) {
  int64_t ops = 0;
  bool isLarge = false;
  module.walk([&](Operation *op) {
    ++ops;
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
        isLarge |= llvm::any_of(tensor.getShape(), [](int64_t dim) { return dim > 4096; });
  });
  return ops < 1000 && !isLarge;
}

bool Readers::readModel(const std::string &path) {
  OwningOpRef<ModuleOp> module = parseModelFile(path, *context);
  if (!module)
    return false;
  CompileOptions options;
  options.after = findPhase(*module);
  // A user may name any function as the entry.
  auto functions = module->getOps<func::FuncOp>();
  if (!functions.empty() && !module->lookupSymbol(options.phases.entry))
    options.phases.entry = (*functions.begin()).getName().str();
  if (!findWrongName(*module, options.phases, false).empty())
    return false;
  // Code of one in eight is generated, too, which takes far longer than all before.
  options.estimateOnly = llvm::djbHash(readText(path)) % 8 != 0;
  return isSmall(*module) && succeeded(compile(*module, options));
}

/// Reads a bundle, and checks what readers of an accepted one rely on.
static bool readBytes(const std::vector<uint8_t> &bytes) {
  auto bundle = runtime::deserializeBundle(bytes.data(), bytes.size(), "mutant.rpb");
  if (!bundle)
    return false;
  auto again = runtime::serializeBundle(*bundle);
  if (!again)
    __builtin_trap();
  for (uint32_t device = 0; device < bundle->countDevices(); ++device)
    if (runtime::validateBundle(runtime::selectDevice(*bundle, device)))
      __builtin_trap();
  return true;
}

bool Readers::readBundle(const std::string &path) {
  auto bytes = runtime::readFile(path);
  if (!bytes)
    return false;
  if (readBytes(*bytes))
    return true;
  // A valid checksum lets the checks behind it see the change.
  runtime::stampBundle(*bytes);
  return readBytes(*bytes);
}

bool Readers::estimate(const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy = model.clone();
  CompileOptions own = options;
  own.threads = own.threads ? own.threads : 2;
  own.estimateOnly = true;
  FailureOr<Compilation> compilation = compile(*copy, own);
  if (failed(compilation))
    return false;
  printEstimates(llvm::errs(), compilation->programs);
  return true;
}

bool Readers::readPlan(const std::string &path) {
  FailureOr<llvm::json::Value> plan = parseJson(readText(path), path, context);
  if (failed(plan))
    return false;
  CompileOptions options;
  options.plan = &*plan;
  options.planPath = path;
  return estimate(options);
}

bool Readers::readProfile(const std::string &path) {
  CompileOptions options;
  options.costs.profile = path;
  return estimate(options);
}

bool Readers::readDevice(const std::string &path) {
  CompileOptions options;
  options.costs.deviceFile = path;
  return estimate(options);
}

bool Readers::readRules(const std::string &path) {
  OwningOpRef<ModuleOp> copy = model.clone();
  PhaseOptions options;
  options.policies = {path};
  options.allowUnmatchedRules = true;
  return succeeded(runPhases(*copy, Phase::Label, options));
}

bool Readers::readProblem(const std::string &path) {
  PlanOptions options;
  options.path = path;
  options.budgets = {"80%"};
  options.timeLimit = 0;
  options.isWritten = true;
  auto plans = planWithinBudgets(readText(path), options);
  if (!accept(plans.takeError()))
    return false;
  llvm::errs() << describeAsJson(*plans);
  return true;
}

bool Readers::readBuffers(const std::string &path) {
  auto plan = packBuffers(readText(path), path, 0);
  return accept(plan.takeError());
}

bool Readers::readPipeline(const std::string &path) {
  stages::ProblemFile file;
  if (!stages::readProblemFile(readText(path), file).empty())
    return false;
  auto plans = planPipeline(file, {});
  if (!accept(plans.takeError()))
    return false;
  llvm::errs() << describeAsJson(*plans);
  return true;
}

bool Readers::readArray(const std::string &path) {
  bool isAccepted = false;
  for (unsigned dtype = 0; dtype < runtime::numDTypes; ++dtype) {
    auto file = runtime::openNpy(path, static_cast<runtime::DType>(dtype));
    if (!file)
      continue;
    // A file that opens has all of its elements.
    uint64_t bytes = runtime::elementBytes(static_cast<runtime::DType>(dtype));
    for (int64_t dim : file->shape())
      bytes *= static_cast<uint64_t>(dim);
    std::vector<uint8_t> elements(bytes);
    isAccepted |= !file->read(elements.data(), 0, bytes);
  }
  return isAccepted;
}

bool Readers::readTensors(const std::string &path) {
  auto file = runtime::SafetensorsFile::open(path);
  if (!file)
    return false;
  for (const auto &[name, tensor] : (*file)->tensors())
    for (unsigned dtype = 0; dtype < runtime::numDTypes; ++dtype) {
      auto array = (*file)->array(name, static_cast<runtime::DType>(dtype));
      if (!array)
        continue;
      std::vector<uint8_t> elements(tensor.end - tensor.begin);
      if (array->read(elements.data(), 0, elements.size()))
        return false;
    }
  return true;
}

bool Readers::readRecord(const std::string &path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  auto record = runtime::readRunRecord(folder);
  if (!record || !*record)
    return false;
  runtime::RunInterface own = (*record)->interface.value_or(runtime::RunInterface());
  std::vector<bool> has(own.arguments.size(), true);
  return !runtime::checkRecord(folder, *record, own, has) &&
         !runtime::checkRunState((*record)->state);
}

} // namespace reprise::fuzz
