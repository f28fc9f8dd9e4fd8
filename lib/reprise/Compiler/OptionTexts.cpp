// reprise: options of a compilation in the user's spelling
#include "reprise/Compiler/OptionTexts.h"

#include "reprise/Dialect/Pipe/IR/CheckpointModes.h"
#include "reprise/Dialect/Reprise/IR/Shardings.h"
#include "reprise/Dialect/Reprise/Transforms/Grid.h"
#include "reprise/Planning/Pipeline/Schedule.h"
#include "reprise/Support/ByteUnits.h"
#include "reprise/Support/Wording.h"
#include "reprise/Target/Contractions.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mlir;
using namespace reprise;

/// Returns whether the text is a number of stages instead of scopes.
static bool isNumber(StringRef text) { return !text.empty() && llvm::all_of(text, llvm::isDigit); }

/// Returns the rule of --schedule; null for a file.
static const pipeline::Rule *findRule(const StageTexts &texts) {
  return pipeline::findRule(texts.schedule.empty() ? pipeline::kUsualRule : texts.schedule);
}

/// Returns the stages per device. A schedule from a file has as many as --chunks says.
static int countChunks(const StageTexts &texts) {
  // Both rules that hold without --schedule allow the same chunks.
  const pipeline::Rule *rule = findRule(texts);
  int chunks = static_cast<int>(std::max<int64_t>(1, texts.chunks));
  return rule ? rule->fitChunks(chunks) : chunks;
}

namespace {
/// Axis of a mesh beside the stages.
struct MeshAxis {
  StringLiteral name;
  StringLiteral spelling; ///< name, and a letter for the size
  StringLiteral what;     ///< what the size counts
  int64_t size = 1;
  bool isGiven = false;
};

/// Axes of a mesh, from a text such as `data=4,model=2`.
struct Mesh {
  MeshAxis data{kDataAxis, "data=R", "replicas"};
  MeshAxis model{kModelAxis, "model=P", "parts of the model"};
  bool isSearched = false; ///< whether `auto` is named beside the axes

  /// Reads the sizes. Returns what is wrong with the text; empty if it is valid.
  std::string read(StringRef text);
};
} // namespace

std::string Mesh::read(StringRef text) {
  SmallVector<StringRef> given;
  text.split(given, ',', -1, /*KeepEmpty=*/!text.empty());
  for (StringRef each : given) {
    if (each == "auto") {
      isSearched = true;
      continue;
    }
    auto [name, size] = each.split('=');
    MeshAxis *axis = name == data.name ? &data : name == model.name ? &model : nullptr;
    if (!axis)
      return "unknown axis '" + name.str() + "' in --mesh=" + text.str() +
             ": expected data=R, the number of replicas, model=P, the number of parts of the "
             "model, "
             "or auto";
    if (std::exchange(axis->isGiven, true))
      return "--mesh=" + text.str() + " names the axis '" + name.str() + "' twice";
    if (size.getAsInteger(10, axis->size) || axis->size < 1 || axis->size > kMostDevices)
      return "expected " + axis->what.str() + " from 1 to " + std::to_string(kMostDevices) +
             " in --mesh=" + axis->spelling.str() + ", got '" + size.str() + "'";
  }
  return "";
}

ModelOptions reprise::parseModel(const StageTexts &texts) {
  return {texts.modelLanes, texts.shards};
}

/// Checks the model axis of valid texts.
static std::string checkModel(const StageTexts &texts, const Mesh &mesh) {
  int64_t lanes = texts.modelLanes, parts = mesh.model.size;
  if (lanes < 1 || lanes > kMostDevices || !llvm::isPowerOf2_64(lanes))
    return "expected 1, 2, 4, … lanes up to " + std::to_string(kMostDevices) +
           " in --model-lanes, got " + std::to_string(lanes);
  if (lanes == 1 && !texts.shards.empty())
    return "--shards needs lanes of contractions: add --model-lanes=2 or more";
  if (lanes % parts != 0)
    return "--mesh=model=" + std::to_string(parts) + " needs a multiple of " +
           std::to_string(parts) + " lanes, got --model-lanes=" + std::to_string(lanes);
  return "";
}

StageOptions reprise::parseStages(const StageTexts &texts) {
  StageOptions options;
  Mesh mesh;
  (void)mesh.read(texts.mesh);
  options.replicas = mesh.data.size;
  options.modelParts = mesh.model.size;
  StringRef stages = texts.stages.empty() ? "1" : StringRef(texts.stages);
  options.schedule = texts.schedule;
  options.chunks = std::max<int64_t>(1, texts.chunks);
  options.checkpoint = texts.checkpoint;
  options.gathers = texts.gathers;
  if (isNumber(stages)) {
    (void)stages.getAsInteger(10, options.devices);
    return options;
  }
  for (StringRef scope : llvm::split(stages, ','))
    options.begin.push_back(scope.str());
  options.devices = (options.begin.size() + 1) / countChunks(texts);
  return options;
}

static std::string checkScopes(const StageTexts &texts, int chunks) {
  SmallVector<StringRef> scopes;
  StringRef(texts.stages).split(scopes, ',');
  if (llvm::is_contained(scopes, ""))
    return "expected --stages as a number or as scopes, got '" + texts.stages + "'";
  for (auto [i, scope] : llvm::enumerate(scopes))
    if (llvm::is_contained(ArrayRef(scopes).take_front(i), scope))
      return "--stages names '" + scope.str() + "' twice";
  if ((scopes.size() + 1) % chunks != 0)
    return "--schedule=" + texts.schedule + " needs " + std::to_string(chunks) +
           " stages per device, --stages names " + std::to_string(scopes.size() + 1);
  if ((scopes.size() + 1) / chunks == 1)
    return "--schedule=" + texts.schedule + " puts the " + std::to_string(chunks) +
           " stages that --stages names on one device: expected more stages";
  return "";
}

static std::string checkSchedule(const StageTexts &texts) {
  const std::string &schedule = texts.schedule;
  int chunks = countChunks(texts);
  if (!schedule.empty() && schedule != "auto" && !pipeline::findRule(schedule) &&
      !sys::fs::exists(schedule))
    return pipeline::refuseUnknown(schedule, {"auto"});
  if (texts.stages.empty() && (!schedule.empty() || texts.chunks))
    return (schedule.empty() ? "--chunks" : "--schedule") +
           std::string(" needs stages: add --stages");
  if (texts.stages == "1" && !schedule.empty() && schedule != "auto" &&
      !pipeline::findRule(schedule))
    return "a schedule file is for several devices: add --stages=2 or more";
  if (texts.chunks && chunks != static_cast<int>(texts.chunks))
    return "--schedule=" + (schedule.empty() ? pipeline::kUsualRule : schedule) +
           " needs --chunks=" + std::to_string(chunks) +
           (findRule(texts)->mostChunks == 0 ? " or more" : "");
  return "";
}

std::vector<std::string> reprise::listCheckpointModes() {
  std::vector<std::string> names;
  for (const pipe::CheckpointMode &mode : pipe::checkpointModes)
    names.push_back(mode.name.str());
  return names;
}

std::vector<std::string> reprise::listGathers() { return {"saved", "replayed"}; }

static std::string checkGathers(const StageTexts &texts, const Mesh &mesh) {
  if (!texts.gathers.empty() && !llvm::is_contained(listGathers(), texts.gathers))
    return "unknown gathers '" + texts.gathers + "'" + suggest(texts.gathers, listGathers());
  bool hasGathers = mesh.data.size > 1 || mesh.model.size > 1;
  return texts.gathers.empty() || hasGathers
             ? ""
             : "--gathers needs replicas or parts: add --mesh=data=2 or --mesh=model=2 or more";
}

/// Returns the error about texts of a search for a mesh; empty if they are valid.
static std::string checkSearch(const StageTexts &texts, const Mesh &mesh) {
  const pipeline::Rule *rule = pipeline::findRule(texts.schedule);
  int64_t stages = 0;
  if (texts.devices < 1)
    return "--mesh=auto needs a number of devices: add --devices=N";
  if (!texts.checkpoint.empty())
    return "--mesh=auto plans each stage: use it without --checkpoint";
  if (!texts.schedule.empty() && !rule)
    return "--mesh=auto needs the name of a schedule: got --schedule=" + texts.schedule;
  if (!texts.stages.empty() && StringRef(texts.stages).getAsInteger(10, stages))
    return "--mesh=auto needs a number of stages: got --stages=" + texts.stages;
  int64_t fixed = mesh.data.size * mesh.model.size * std::max<int64_t>(1, stages);
  if (fixed > 0 && texts.devices % fixed == 0)
    return "";
  return "--mesh and --stages name " + std::to_string(fixed) + " devices, which do not divide " +
         "--devices=" + std::to_string(texts.devices);
}

bool reprise::isMeshSearched(const StageTexts &texts) {
  Mesh mesh;
  return mesh.read(texts.mesh).empty() && mesh.isSearched;
}

mesh::Space reprise::parseSpace(const StageTexts &texts) {
  Mesh mesh;
  (void)mesh.read(texts.mesh);
  mesh::Space space;
  space.devices = texts.devices;
  space.replicas = mesh.data.isGiven ? mesh.data.size : 0;
  space.parts.clear();
  if (mesh.model.isGiven)
    space.parts.push_back(mesh.model.size);
  int64_t stages = 0;
  if (!StringRef(texts.stages).getAsInteger(10, stages))
    space.ranks = stages;
  space.chunks = texts.chunks;
  space.rule = pipeline::findRule(texts.schedule);
  if (!texts.gathers.empty())
    space.replaysGathers = texts.gathers == "replayed";
  space.listsUnbuilt = texts.listsUnbuilt;
  space.microbatches = texts.microbatches;
  space.lanes = texts.lanes;
  return space;
}

/// Checks the number of devices of valid texts.
static std::string checkDevices(const StageTexts &texts) {
  StageOptions options = parseStages(texts);
  return options.countPrograms() <= kMostDevices
             ? ""
             : "--mesh and --stages need " + std::to_string(options.countPrograms()) +
                   " devices, expected at most " + std::to_string(kMostDevices);
}

std::string reprise::checkStages(const StageTexts &texts) {
  Mesh mesh;
  if (std::string wrong = mesh.read(texts.mesh); !wrong.empty())
    return wrong;
  if (mesh.isSearched) {
    std::string wrong = checkSearch(texts, mesh);
    return wrong.empty() ? checkModel(texts, mesh) : wrong;
  }
  if (texts.devices || texts.listsUnbuilt)
    return "--devices and --unbuilt are for a search: add --mesh=auto";
  if (std::string wrong = checkGathers(texts, mesh); !wrong.empty())
    return wrong;
  if (std::string wrong = checkSchedule(texts); !wrong.empty())
    return wrong;
  StringRef stages = texts.stages.empty() ? "1" : StringRef(texts.stages);
  StringRef checkpoint = texts.checkpoint;
  if (!checkpoint.empty() && !pipe::findCheckpointMode(checkpoint))
    return "unknown checkpoint mode '" + checkpoint.str() + "'" +
           suggest(checkpoint, listCheckpointModes());
  if (!checkpoint.empty() && stages == "1" && mesh.data.size * mesh.model.size == 1)
    return std::string("--checkpoint needs stages: add --stages") +
           (texts.stages.empty() ? "" : "=2 or more");
  int64_t number = 0;
  bool isCount = isNumber(stages);
  if (isCount && (stages.getAsInteger(10, number) || number < 1 || number > kMostDevices))
    return "expected --stages from 1 to " + std::to_string(kMostDevices) + ", got '" +
           texts.stages + "'";
  if (std::string wrong = isCount ? "" : checkScopes(texts, countChunks(texts)); !wrong.empty())
    return wrong;
  if (std::string wrong = checkModel(texts, mesh); !wrong.empty())
    return wrong;
  return checkDevices(texts);
}

LogicalResult reprise::takeGrid(ModuleOp module, StageTexts &texts) {
  FailureOr<Grid> grid = Grid::find(module);
  if (failed(grid) || !*grid)
    return failure(failed(grid));
  Mesh mesh;
  (void)mesh.read(texts.mesh);
  for (const MeshAxis &axis : {mesh.data, mesh.model})
    if (std::optional<int64_t> size = grid->getSize(axis.name); size && !axis.isGiven)
      texts.mesh += (texts.mesh.empty() ? "" : ",") + axis.name.str() + "=" + std::to_string(*size);
  if (std::optional<int64_t> size = grid->getSize(kStageAxis); size && texts.stages.empty())
    texts.stages = std::to_string(*size);
  if (std::string wrong = checkStages(texts); !wrong.empty())
    return grid->getOp().emitError("the grid '")
           << grid->getOp().getSymName() << "' is a mesh that cannot be used: " << wrong;
  StageOptions stages = parseStages(texts);
  return grid->check(stages.replicas, stages.devices, stages.modelParts);
}

static bool isGpu(StringRef target) { return target.starts_with("cuda"); }

std::vector<std::string> reprise::listTargets(std::vector<std::string> targets,
                                              const std::string &contractions) {
  if (!contractions.empty())
    for (std::string &target : targets)
      target += isGpu(target) ? ":" + contractions : "";
  return targets;
}

std::vector<std::string> reprise::listContractions() {
  std::vector<std::string> names;
  for (const ContractionsRow &row : contractionsTable)
    if (row.isOption)
      names.push_back(row.name.str());
  return names;
}

std::string reprise::checkContractions(const std::vector<std::string> &targets,
                                       const std::string &contractions) {
  std::optional<Contractions> kind = findContractions(contractions);
  if (!contractions.empty() && !kind)
    return "unknown contractions '" + contractions + "'" +
           suggest(contractions, listContractions());
  if (kind && describe(*kind).needsGpu && llvm::none_of(targets, isGpu))
    return "--contractions=" + contractions +
           " is for GPUs: add a target such as --target=cuda:sm_90";
  return "";
}

std::string reprise::refuseBudget(const std::string &option, const std::string &text) {
  return "expected " + option + " as bytes (1500000), a number with a unit (1.5GiB; units are " +
         std::string(kByteUnits) + ") or a share (60%), got '" + text + "'";
}

std::optional<Budget> reprise::parseBudget(StringRef given) {
  std::string plain = ungroupDigits(given); // in the spelling of our own messages
  std::string_view rest = plain;
  bool isShare = !rest.empty() && rest.back() == '%';
  double scale = 1;
  if (isShare)
    rest.remove_suffix(1);
  else
    scale = consumeByteUnit(rest).value_or(1);
  StringRef text = rest;
  double number = 0;
  bool isNumber = !text.empty() && llvm::isDigit(text.front()) && !text.getAsDouble(number);
  // A fraction of a byte is a typing error.
  bool isBytes = !isShare && scale == 1;
  if (isBytes && !llvm::all_of(text, llvm::isDigit))
    return std::nullopt;
  // The bytes that a share refers to are known later: the product must also be a valid number of
  // bytes.
  if (!isNumber || !(number * scale < (isShare ? 1e4 : 0x1p62)))
    return std::nullopt;
  Budget budget;
  if (isShare)
    budget.share = number / 100;
  else
    budget.bytes = static_cast<int64_t>(number * scale);
  return budget;
}
