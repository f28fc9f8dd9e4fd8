// reprise: the report of a compilation
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Call.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/Transforms/SavedBuffers.h"
#include "reprise/Page/Page.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Target/LaunchFacts.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace reprise {

static std::string print(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  location->print(stream);
  return text;
}

static StringRef entryOf(Operation *op, StringRef attribute, unsigned result) {
  auto array = op->getAttrOfType<ArrayAttr>(attribute);
  return array && result < array.size() ? cast<StringAttr>(array[result]).getValue() : "";
}

/// The scope up to its last number, layer/3 of layer/3/attention; without one its first part.
static std::string layerOf(const std::string &whole) {
  StringRef scope = whole;
  size_t end = scope.find('/'), begin = 0;
  StringRef layer = scope.take_front(end);
  for (StringRef segment : llvm::split(scope, '/')) {
    begin += segment.size();
    if (!segment.empty() && llvm::all_of(segment, llvm::isDigit))
      layer = scope.take_front(begin);
    ++begin;
  }
  return layer.str();
}

namespace {
/// A location in words. Micro-batches and iterations repeat the locations of their ops.
struct Place {
  explicit Place(Location location) : text(print(location)), layer(layerOf(getScope(location))) {}
  std::string text, layer;
};
} // namespace

static void setVerdict(const Verdict &verdict, ReportedValue &entry) {
  entry.decision = verdict.decision;
  entry.why = verdict.reason;
  entry.reason = verdict.why().str();
}

static ReportedValue describeValue(OpResult value, StringRef id, const Place &place, bool isSaved,
                                   bool outlives, const CostModel &costs) {
  Operation *op = value.getOwner();
  unsigned result = value.getResultNumber();
  ReportedValue entry;
  entry.id = id.str();
  entry.op = op->getName().getStringRef().str();
  entry.name = entryOf(op, kNamesAttr, result).str();
  entry.location = place.text;
  entry.layer = place.layer;
  entry.bytes = getByteSize(value.getType()) * countExecutions(op);
  entry.savedBytes = isSaved ? getByteSize(value.getType()) : 0;
  Verdict verdict = readVerdict(value).value_or(Verdict());
  // A value that outlives its gradient is in memory in any case, so no decision drops it.
  if (outlives && isSaved && verdict.decision == checkpoint::Decision::NotNeeded)
    verdict = {checkpoint::Decision::Kept, checkpoint::Reason::Outlives, ""};
  setVerdict(verdict, entry);
  entry.replaySeconds = costs.getSecondsAlone(op);
  if (auto label = op->getAttrOfType<LabelAttr>(kLabelAttr))
    entry.label = static_cast<checkpoint::ValueLabel>(label.getValue());
  if (auto rule = op->getAttrOfType<StringAttr>(kRuleAttr))
    entry.rule = rule.getValue().str();
  // A name labels one of several results.
  auto labels = op->getAttrOfType<ArrayAttr>(kResultLabelsAttr);
  if (auto own =
          labels && result < labels.size() ? dyn_cast<LabelAttr>(labels[result]) : LabelAttr()) {
    entry.label = static_cast<checkpoint::ValueLabel>(own.getValue());
    entry.rule = entryOf(op, kResultRulesAttr, result).str();
  }
  return entry;
}

/// Numbers the results of `op` from `first` on; their replays get the same numbers.
static void number(Operation *op, int64_t first, DenseMap<Attribute, int64_t> &numbers) {
  auto value = IntegerAttr::get(IntegerType::get(op->getContext(), 64), first);
  op->setDiscardableAttr(exec::kReportedAttr, value);
  if (Attribute id = op->getDiscardableAttr(kIdAttr))
    numbers[id] = first;
}

static void numberReplays(ProgramOp step, const DenseMap<Attribute, int64_t> &numbers) {
  Builder builder(step.getContext());
  step.walk([&](Operation *op) {
    auto found = numbers.find(op->getDiscardableAttr(kOriginalAttr));
    if (found != numbers.end())
      op->setDiscardableAttr(exec::kReportedAttr, builder.getI64IntegerAttr(found->second));
  });
}

void describeFusion(ProgramOp step, ReportedPlan &plan) {
  DenseSet<int64_t> stored;
  step.walk([&](exec::LaunchOp launch) {
    if (auto numbers = launch->getAttrOfType<DenseI64ArrayAttr>(exec::kReportedAttr))
      stored.insert(numbers.asArrayRef().begin(), numbers.asArrayRef().end());
  });
  for (auto [i, value] : llvm::enumerate(plan.values))
    value.fused = !stored.contains(i);
}

/// Adds the decision about an offload to the value that it moves, because an offload has no row.
static void addOffload(OffloadOp op, bool isSaved, ReportedValue &value) {
  Verdict verdict = readVerdict(cast<OpResult>(op.getResult())).value_or(Verdict());
  if (verdict.decision == checkpoint::Decision::Replayed)
    verdict.decision = checkpoint::Decision::Offloaded;
  setVerdict(verdict, value);
  value.savedBytes = isSaved ? getByteSize(op.getType()) : 0;
}

ReportedPlan describePlan(ProgramOp step, const CostModel &costs) {
  ReportedPlan plan;
  ValueIds ids(step.getBody().front());
  DenseSet<Value> saved;
  for (Value buffer : findSavedBuffers(step))
    saved.insert(buffer);
  DenseSet<Value> outliving = findOutliving(step);
  DenseMap<Attribute, int64_t> numbers;
  DenseMap<Location, Place> places;
  DenseMap<Value, size_t> rows;
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    plan.replayedOps += isReplay(op) && !isa<LoopOp, OffloadOp>(op) ? countExecutions(op) : 0;
    if (!op->hasAttr(kDecisionsAttr))
      return;
    if (auto offload = dyn_cast<OffloadOp>(op))
      if (auto row = rows.find(offload.getOperand()); row != rows.end())
        return addOffload(offload, saved.contains(offload), plan.values[row->second]);
    number(op, plan.values.size(), numbers);
    auto place = places.find(op->getLoc());
    if (place == places.end())
      place = places.try_emplace(op->getLoc(), op->getLoc()).first;
    for (OpResult value : op->getResults()) {
      rows[value] = plan.values.size();
      plan.values.push_back(describeValue(value, ids.get(value), place->second,
                                          saved.contains(value), outliving.contains(value), costs));
    }
  });
  numberReplays(step, numbers);
  step->setDiscardableAttr(exec::kPartsAttr, UnitAttr::get(step.getContext()));
  auto total = step->getAttrOfType<IntegerAttr>(kSavedBytesAttr);
  plan.savedBytes = total ? total.getInt() : 0;
  return plan;
}

static llvm::json::Object toJson(ArrayRef<CompiledProgram> programs,
                                 const std::optional<ReportedPipeline> &pipeline) {
  if (programs.size() == 1)
    return toJson(programs.front().report);
  llvm::json::Array reports;
  for (const CompiledProgram &program : programs) {
    llvm::json::Object report = toJson(program.report);
    report["program"] = program.name;
    report["device_number"] = program.device;
    reports.push_back(std::move(report));
  }
  llvm::json::Object whole{{"version", 1}, {"programs", std::move(reports)}};
  if (pipeline)
    whole["pipeline"] = toJson(*pipeline);
  return whole;
}

void printAsPageOrJson(llvm::raw_ostream &stream, StringRef path, llvm::json::Value data) {
  if (path.ends_with(".html"))
    printPage(stream, data);
  else
    stream << llvm::formatv("{0:2}\n", data);
}

void printReports(llvm::raw_ostream &stream, StringRef path, ArrayRef<CompiledProgram> programs,
                  const std::optional<ReportedPipeline> &pipeline) {
  if (!path.ends_with(".txt"))
    return printAsPageOrJson(stream, path, toJson(programs, pipeline));
  if (pipeline)
    printPipelineText(stream, *pipeline);
  for (const CompiledProgram &program : programs) {
    if (programs.size() > 1)
      stream << (program.device > 0 || pipeline ? "\n" : "") << describeProgram(program) << "\n";
    printText(stream, program.report);
  }
}

bool printEstimates(llvm::raw_ostream &stream, ArrayRef<CompiledProgram> programs) {
  bool fits = true;
  for (const CompiledProgram &program : programs) {
    if (programs.size() > 1)
      stream << (program.device > 0 ? "\n" : "") << describeProgram(program) << "\n";
    fits &= printEstimate(stream, program.report);
  }
  return fits;
}

std::string describeProgram(const CompiledProgram &program) {
  return "device " + std::to_string(program.device) + ": " + program.name;
}

ReportedInputs describeInputs(ModuleOp module, const PhaseOptions &options) {
  auto place = module.getLoc()->findInstanceOf<FileLineColLoc>();
  StringRef file = place ? llvm::sys::path::filename(place.getFilename().getValue()) : "";
  ReportedInputs inputs;
  inputs.model = module.getName().value_or(file).str();
  inputs.entry = options.entry;
  inputs.policies = options.policies;
  inputs.microbatches = options.microbatches;
  inputs.lanes = options.lanes;
  inputs.stages = options.stages.devices;
  inputs.replicas = options.stages.replicas;
  inputs.modelParts = options.stages.modelParts;
  inputs.modelLanes = options.model.lanes;
  inputs.replayedPercent = options.stages.replayedPercent;
  inputs.schedule = options.stages.schedule;
  inputs.compiler = "Reprise " REPRISE_VERSION;
  return inputs;
}

int64_t countPersistentBytes(ProgramOp step) {
  int64_t bytes = sizeof(int64_t); // number of the step
  for (Type type : step.getArgumentTypes())
    bytes += getByteSize(type);
  return bytes;
}

/// Returns the bytes that a worker of the device needs: the maximum of its kernels.
static uint64_t countWorkerBytes(const runtime::Bundle &bundle, uint32_t device) {
  uint64_t most = 0;
  for (const runtime::Program &program : bundle.programs)
    for (const runtime::Command &command : program.commands)
      if (program.device == device && command.kind == runtime::CommandKind::Kernel)
        most = std::max(most, bundle.kernels[command.kernel].workspaceBytes);
  return most;
}

/// Describes the launches of libraries, and launches that stay kernels although a library was
/// requested.
static void describeLibraries(ProgramOp step, const Target &target, Report &report) {
  if (!target.getCapabilities().callsLibraries)
    return;
  std::map<std::vector<uintptr_t>, Target::LibraryChoice> choices;
  step.walk([&](exec::LaunchOp launch) {
    Block &body = launch.getBody().front();
    auto [found, isNew] = choices.try_emplace(describeBody(body));
    if (isNew)
      found->second = target.findLibrary(body);
    const Target::LibraryChoice &choice = found->second;
    if (!choice.function.empty())
      ++report.libraryCalls[choice.function];
    if (choice.whyOwn.empty())
      return;
    std::string op = exec::getLabel(launch);
    auto own = llvm::find_if(report.ownContractions, [&](const ReportedOwn &known) {
      return known.op == op && known.why == choice.whyOwn;
    });
    if (own == report.ownContractions.end())
      own = report.ownContractions.insert(own, {op, choice.whyOwn, 0});
    ++own->launches;
  });
}

/// Describes the calls of host functions. Calls of one callee count together.
static void describeCalls(ProgramOp step, Report &report) {
  step.walk([&](CustomCallOp call) {
    ReportedCall &known = report.hostCalls[call.getCallee().str()];
    known.launches += countExecutions(call);
    known.seconds = call.getPrice();
    known.workspaceBytes = std::max(known.workspaceBytes, call.getWorkspaceBytes());
  });
}

void describeBundle(const runtime::Bundle &bundle, ProgramOp step, const Target &target,
                    Report &report) {
  auto device = static_cast<uint32_t>(*findOnlyDevice(step));
  report.target = target.getName();
  report.contractions = describe(target.getCapabilities().contractions).name;
  report.threads = bundle.threads;
  report.arenaBytes = static_cast<int64_t>(bundle.arenaBytes(device));
  report.hostBytes = static_cast<int64_t>(bundle.program("step", device)->hostBytes);
  report.persistentBytes = countPersistentBytes(step);
  report.workspaceBytes = static_cast<int64_t>(bundle.threads * countWorkerBytes(bundle, device)) +
                          findCallWorkspace(step);
  report.replayChecks = llvm::count_if(bundle.replayChecks, [&](const runtime::ReplayCheck &check) {
    return check.device == device;
  });
  report.commands = static_cast<int64_t>(bundle.program("step", device)->executions());
  describeLibraries(step, target, report);
  describeCalls(step, report);
}

std::vector<const ReportedValue *> listValues(const Report &report) {
  std::vector<const ReportedValue *> values;
  if (report.plan)
    for (const ReportedValue &value : report.plan->values)
      values.push_back(&value);
  sortByBytes(values);
  return values;
}

} // namespace reprise
