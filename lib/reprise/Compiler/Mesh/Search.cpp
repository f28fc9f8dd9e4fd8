// reprise: the search for a mesh of devices, from a model to a report
#include "Steps.h"

#include "../Planner/PlanContext.h"
#include "mlir/IR/Diagnostics.h"
#include "reprise/Compiler/MeshSearch.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Support/AccessOrder.h"
#include "reprise/Support/StableSort.h"

using namespace mlir;

namespace reprise {

/// Most ops of all micro-batches of a step that is compiled for its price.
static constexpr int64_t kMostPackedOps = 8000;
/// Points at first that may replace those whose programs do not fit.
static constexpr size_t kSpare = 6;

CompileOptions takePoint(CompileOptions options, const mesh::Point &point, int64_t lanes) {
  StageOptions &stages = options.phases.stages;
  stages.devices = point.ranks;
  stages.replicas = point.replicas;
  stages.modelParts = point.parts;
  stages.chunks = point.chunks;
  stages.schedule = point.ranks > 1 ? point.rule->name : "";
  bool choosesGathers = point.replicas > 1 && point.parts == 1;
  stages.gathers = !choosesGathers ? "" : point.replaysGathers ? "replayed" : "saved";
  options.phases.microbatches = point.microbatches;
  options.phases.lanes = lanes;
  return options;
}

/// Returns the flags of a point, in the order of --help.
static std::string spellFlags(const mesh::Point &point, int64_t lanes, const ModelOptions &model) {
  std::string text, mesh;
  auto add = [&](const std::string &flag) { text += (text.empty() ? "" : " ") + flag; };
  auto addNumber = [&](const char *name, int64_t number) {
    if (number > 1)
      add(name + std::to_string(number));
  };
  if (point.replicas > 1)
    mesh = "data=" + std::to_string(point.replicas);
  if (point.parts > 1)
    mesh += (mesh.empty() ? "model=" : ",model=") + std::to_string(point.parts);
  if (!mesh.empty())
    add("--mesh=" + mesh);
  addNumber("--stages=", point.ranks);
  if (point.ranks > 1)
    add(std::string("--schedule=") + point.rule->name);
  addNumber("--chunks=", point.chunks);
  addNumber("--microbatches=", point.microbatches);
  addNumber("--lanes=", lanes);
  if (point.replicas > 1 && point.parts == 1)
    add(point.replaysGathers ? "--gathers=replayed" : "--gathers=saved");
  addNumber("--model-lanes=", model.lanes);
  if (!model.shards.empty())
    add("--shards=" + model.shards);
  return text;
}

namespace {

class Run {
public:
  Run(ModuleOp module, const CompileOptions &options, mesh::Space space)
      : module(module), options(options), space(std::move(space)) {}

  FailureOr<ReportedMesh> run();

private:
  LogicalResult describeDevice();
  LogicalResult findBatch();
  void listParts();
  ReportedPoint report(const mesh::Priced &priced) const;
  bool pack(ReportedPoint &point);
  bool packOnce(ReportedPoint &point);
  bool packBest(const mesh::Found &found, const MeshSteps &steps);
  void addMissed(const mesh::Found &found);

  ModuleOp module;
  const CompileOptions &options;
  mesh::Space space;
  std::shared_ptr<const CostModel> costs;
  size_t wanted = 0;
  std::map<std::string, std::optional<ReportedPoint>> packed; ///< by flags; none: does not fit
  ReportedMesh reported;
};

} // namespace

LogicalResult Run::describeDevice() {
  FailureOr<CostModel> loaded = loadCosts(module, options);
  if (failed(loaded))
    return failure();
  costs = std::make_shared<const CostModel>(std::move(*loaded));
  space.device.links = costs->getLinks();
  space.device.byteSeconds = costs->getTransferSeconds(1);
  space.device.memory = costs->getRates().memory.value_or(INT64_MAX);
  if (options.budget) {
    space.device.arena = options.budget->bytes.value_or(INT64_MAX);
    space.device.share = options.budget->share.value_or(0);
  }
  reported.device = costs->getRates().name;
  return success();
}

/// Finds the samples of a batch, at the first input that has a dimension of samples.
LogicalResult Run::findBatch() {
  OwningOpRef<ModuleOp> imported = module.clone(); // shardings may name the dimension of samples
  if (failed(runPhases(*imported, Phase::Import, options.phases)))
    return failure();
  auto entry = imported->lookupSymbol<FunctionOpInterface>(options.phases.entry);
  for (unsigned i = 0; entry && i < entry.getNumArguments(); ++i)
    if (auto dim = entry.getArgAttrOfType<IntegerAttr>(i, EntrySignature::kBatchDim)) {
      auto type = cast<RankedTensorType>(entry.getArgumentTypes()[i]);
      space.batch = type.getDimSize(static_cast<unsigned>(dim.getInt()));
      if (space.microbatches && space.batch % space.microbatches != 0)
        return entry.emitError(
                   "a mesh is searched for micro-batches of equal size: --microbatches=")
               << space.microbatches << " does not divide the " << space.batch
               << " samples of the batch";
      return success();
    }
  return success();
}

/// Lists the numbers of parts that divide the lanes of contractions.
void Run::listParts() {
  if (!space.parts.empty())
    return;
  for (int64_t parts = 1; parts <= std::min(space.devices, options.phases.model.lanes); parts *= 2)
    space.parts.push_back(parts);
}

ReportedPoint Run::report(const mesh::Priced &priced) const {
  int64_t lanes = mesh::getLanes(space, priced.point);
  return {priced.point, priced.price,   spellFlags(priced.point, lanes, options.phases.model),
          lanes,        priced.isBuilt, /*isPacked=*/false};
}

/// Compiles a point up to phase `memory`. Returns false if it does not fit.
bool Run::pack(ReportedPoint &point) {
  CompileOptions own = takePoint(options, point.point, point.lanes);
  own.estimateOnly = true;
  OwningOpRef<ModuleOp> copy = module.clone();
  ScopedDiagnosticHandler handler(module.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<Compilation> compilation = compile(*copy, own);
  if (failed(compilation))
    return false;
  mesh::Price &price = point.price;
  price.peaks.clear();
  for (const CompiledProgram &program : compilation->programs)
    price.peaks.push_back(program.report.stepBytes() + program.report.persistentBytes);
  if (compilation->pipeline) {
    price.makespan = compilation->pipeline->simulation.makespan;
    price.bubble = compilation->pipeline->simulation.bubbleOfTotal();
  }
  point.isPacked = true;
  return true;
}

/// Returns whether a point is compiled for its price.
static bool isSmall(const MeshSteps &steps, const mesh::Point &point) {
  return steps.countOps() * point.microbatches <= kMostPackedOps;
}

static void count(std::vector<ReportedMiss> &missed, const char *reason, ReportedMiss miss) {
  auto found = llvm::find_if(missed, [&](const ReportedMiss &own) { return own.reason == reason; });
  if (found != missed.end()) {
    found->points += miss.points;
    return;
  }
  miss.reason = reason;
  missed.push_back(std::move(miss));
}

/// Compiles a point unless it has been compiled before.
bool Run::packOnce(ReportedPoint &point) {
  auto [found, isNew] = packed.try_emplace(point.flags);
  if (isNew && pack(point))
    found->second = point;
  if (found->second)
    point = *found->second;
  return found->second.has_value();
}

/// Packs the best points, and drops those that do not fit. Returns whether too few are left
/// although slower points may fit.
bool Run::packBest(const mesh::Found &found, const MeshSteps &steps) {
  reported.best.clear();
  reported.missed.clear();
  for (const mesh::Priced &priced : found.best) {
    ReportedPoint point = report(priced);
    ReportedMiss miss{"", 1, point.flags, std::nullopt, std::nullopt};
    if (reported.best.size() >= wanted) {
      miss.seconds = point.price.seconds();
      count(reported.missed, mesh::describe(mesh::Reason::Slower), miss);
    } else if (!point.isBuilt || !isSmall(steps, point.point) || packOnce(point)) {
      reported.best.push_back(std::move(point));
    } else {
      count(reported.missed, "refused once packed", miss);
    }
  }
  sortStably(reported.best, [](const ReportedPoint &a, const ReportedPoint &b) {
    return a.price.seconds() < b.price.seconds();
  });
  return reported.best.size() < wanted && found.best.size() == space.wanted;
}

void Run::addMissed(const mesh::Found &found) {
  for (const auto &[reason, missed] : found.missed) {
    ReportedMiss miss;
    miss.points = missed.count;
    if (missed.nearest) {
      miss.nearest =
          spellFlags(*missed.nearest, mesh::getLanes(space, *missed.nearest), options.phases.model);
      (reason == mesh::Reason::Memory ? miss.fullness : miss.seconds) = missed.measure;
    }
    count(reported.missed, mesh::describe(reason), miss);
  }
}

FailureOr<ReportedMesh> Run::run() {
  if (failed(describeDevice()) || failed(findBatch()))
    return failure();
  listParts();
  wanted = space.wanted;
  space.wanted += kSpare;
  MeshSteps steps(module, options, costs, space.batch);
  mesh::Found found;
  // The verifier judges the points that are compiled.
  auto isRefused = [&](const mesh::Point &point, const mesh::Price &price) {
    return !isSmall(steps, point) && price.sends > static_cast<int64_t>(kMostTransfers);
  };
  for (;; space.wanted *= 2) {
    found = mesh::search(
        space, [&](int64_t parts, int64_t microbatches) { return steps.get(parts, microbatches); },
        isRefused);
    if (!packBest(found, steps))
      break;
  }
  reported.devices = space.devices;
  reported.batch = space.batch;
  reported.points = found.points;
  reported.cut = found.priced;
  reported.refusal = steps.getRefusal();
  addMissed(found);
  return std::move(reported);
}

FailureOr<ReportedMesh> searchMesh(ModuleOp module, const CompileOptions &options,
                                   mesh::Space space) {
  return Run(module, options, std::move(space)).run();
}

} // namespace reprise
