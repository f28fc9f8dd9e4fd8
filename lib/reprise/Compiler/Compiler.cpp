// reprise: the compiler as a library: from a model module to a bundle
#include "reprise/Compiler.h"

#include "HiddenReplays.h"
#include "Initializers.h"
#include "PlanFile.h"
#include "Report.h"
#include "TargetContexts.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Pipe/Transforms/StageInputs.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Parallel.h"

using namespace mlir;

namespace reprise {

LogicalResult runPhases(ModuleOp module, std::optional<Phase> from, Phase to,
                        const PhaseOptions &options) {
  PassManager manager(module.getContext());
  if (from == Phase::Autodiff)
    buildVerifier(manager, *from, options);
  buildPhases(manager, from, to, options);
  return manager.run(module);
}

LogicalResult runPhases(ModuleOp module, Phase to, const PhaseOptions &options) {
  return runPhases(module, std::nullopt, to, options);
}

/// Kernels and memory for functions that hold ops of one part only.
static LogicalResult lowerInitializers(ModuleOp module, const PhaseOptions &phases) {
  PhaseOptions options;
  options.target = phases.target;
  options.facts = phases.facts;
  return runPhases(module, Phase::Checkpoint, Phase::Memory, options);
}

namespace {
/// Compilation, from phase to phase.
class Run {
public:
  Run(ModuleOp module, CompileOptions given)
      : module(module), options(std::move(given)), phases(options.phases),
        targets(module, options) {}

  FailureOr<Compilation> run();

private:
  LogicalResult differentiate();
  LogicalResult describeDevices();
  LogicalResult partition();
  LogicalResult planStages();
  LogicalResult checkCancelled() {
    bool isCancelled = options.isCancelled && options.isCancelled();
    return isCancelled ? LogicalResult(module.emitError("the compilation was cancelled"))
                       : success();
  }
  bool isBounded() const;
  /// Programs of a cut that does not fit.
  struct Refused {
    OwningOpRef<ModuleOp> module;
    std::vector<std::unique_ptr<ProgramRun>> runs;
  };
  bool refuseCut();
  bool cutForLeast();
  bool replayMore();
  LogicalResult measure();
  void startAgain(ModuleOp start, Phase begin, Refused &first);
  LogicalResult findRuns();
  LogicalResult forEachRun(function_ref<LogicalResult(ProgramRun &)> each);
  LogicalResult checkProfile();
  LogicalResult findSaveAllBytes();
  LogicalResult plan();
  LogicalResult lower();
  LogicalResult build();
  LogicalResult estimate();

  ModuleOp module;
  const CompileOptions options;
  PhaseOptions phases;
  pipe::StageInputs cutInputs;    ///< results of earlier cuts for the next search
  Phase after = Phase::Partition; ///< last phase that the module has been through
  TargetContexts targets;
  std::vector<std::unique_ptr<ProgramRun>> runs; ///< by device number
  std::optional<int64_t> saveAll;                ///< bytes that a share refers to
  /// Smallest budget for which a cut for the fewest bytes is known to fit.
  std::optional<int64_t> least;
  HiddenSeconds hidden;
  Compilation compilation;
};
} // namespace

/// Describes the devices of the first replica for the cut into stages.
LogicalResult Run::describeDevices() {
  for (int64_t device = 0; device < phases.stages.devices; ++device) {
    FailureOr<TargetContext *> target = targets.load(device);
    if (failed(target))
      return failure();
    pipe::StageDevice &own = cutInputs.devices.emplace_back();
    own.costs = (*target)->costs;
    if (options.budget) {
      own.arena = options.budget->bytes;
      own.share = options.budget->share;
    }
  }
  return success();
}

/// Runs the phases up to `autodiff`.
LogicalResult Run::differentiate() {
  after = std::max(options.after.value_or(Phase::Import), Phase::Autodiff);
  if (options.after == Phase::Memory && !options.isVerified) {
    PassManager manager(module.getContext());
    buildVerifier(manager, *options.after, phases);
    return manager.run(module);
  }
  if (options.after >= Phase::Autodiff)
    return success();
  if (options.plan)
    phases.unroll |= isOfUnrolledModel(*options.plan);
  return runPhases(module, options.after, Phase::Autodiff, phases);
}

/// Runs the phases up to `partition`; programs are planned afterwards.
LogicalResult Run::partition() {
  if (after >= Phase::Partition)
    return findRuns();
  phases.stages.inputs = std::make_shared<const pipe::StageInputs>(cutInputs);
  if (failed(runPhases(module, after, Phase::Partition, phases)))
    return failure();
  after = Phase::Partition;
  return findRuns();
}

/// A run for each device program.
LogicalResult Run::findRuns() {
  SmallVector<ProgramOp> programs = findPrograms(module);
  if (programs.empty())
    return emitNoProgram(module);
  for (ProgramOp program : programs)
    if (failed(verifyOneDevice(program)))
      return failure();
  sortStably(programs,
             [](ProgramOp a, ProgramOp b) { return findOnlyDevice(a) < findOnlyDevice(b); });
  for (auto [i, program] : llvm::enumerate(programs)) {
    if (*findOnlyDevice(program) != static_cast<int64_t>(i))
      return program.emitError("expected one program per device, numbered from 0: got device ")
             << *findOnlyDevice(program) << " instead of " << i;
    FailureOr<TargetContext *> target = targets.load(static_cast<int64_t>(i));
    if (failed(target))
      return failure();
    PhaseOptions own = phases;
    own.target = (*target)->options.phases.target;
    own.facts = (*target)->facts;
    runs.push_back(std::make_unique<ProgramRun>(program, (*target)->options, std::move(own),
                                                *(*target)->costs));
  }
  return success();
}

/// Checks the profile, if there is one, against all programs.
LogicalResult Run::checkProfile() {
  auto programs = llvm::map_to_vector(runs, [](const auto &run) { return run->getProgram(); });
  return runs.front()->getCosts().checkModel(programs);
}

LogicalResult Run::plan() {
  if (after > Phase::Partition)
    return success();
  if (options.budget && options.budget->share && runs.size() > 1 && failed(findSaveAllBytes()))
    return failure();
  return forEachRun([&](ProgramRun &run) {
    if (failed(checkCancelled()))
      return failure();
    if (!run.isBounded() && !options.plan && !options.keepPlan)
      return success();
    FailureOr<const llvm::json::Value *> file = nullptr;
    if (options.plan)
      file = findProgramPlan(module, run.getProgram(), options, runs.size());
    return failure(failed(file) || failed(run.plan(*file)));
  });
}

/// Finds the bytes that a share refers to: those of the largest program of the first cut.
LogicalResult Run::findSaveAllBytes() {
  if (!saveAll) {
    if (failed(forEachRun([](ProgramRun &run) { return failure(failed(run.findSaveAllBytes())); })))
      return failure();
    saveAll = 0;
    for (auto &run : runs)
      saveAll = std::max(*saveAll, *run->findSaveAllBytes());
  }
  return forEachRun([&](ProgramRun &run) { return run.setSaveAllBytes(*saveAll); });
}

/// Device programs are independent of each other.
LogicalResult Run::forEachRun(function_ref<LogicalResult(ProgramRun &)> each) {
  return forEachInParallel(*module.getContext(), runs.size(),
                           [&](size_t number) { return each(*runs[number]); });
}

LogicalResult Run::estimate() {
  for (auto &run : runs)
    if (failed(describeEstimate(run->getProgram(), *run->getPhases().facts, countThreads(options),
                                run->getCompiled().report)))
      return failure();
  return success();
}

/// Builds one bundle. Its budget is the largest of all programs, since devices differ in memory.
LogicalResult Run::build() {
  std::vector<OwningOpRef<ModuleOp>> initializers;
  std::vector<BundlePrograms> devices;
  for (auto &run : runs) {
    ModuleOp own = *initializers.emplace_back(buildInitializers(run->getProgram()));
    if (failed(lowerInitializers(own, run->getPhases())))
      return failure();
    devices.push_back({run->getProgram(), own.lookupSymbol<ProgramOp>("init_parameters"),
                       own.lookupSymbol<ProgramOp>("init_inputs"),
                       &run->getPhases().facts->getTarget()});
  }
  FailureOr<runtime::Bundle> bundle = buildBundle(devices);
  if (failed(bundle))
    return failure();
  bundle->threads = countThreads(options);
  for (auto &run : runs) {
    bundle->hasBudget |= run->getBudget().has_value();
    bundle->budgetBytes = std::max<uint64_t>(bundle->budgetBytes, run->getBudget().value_or(0));
  }
  compilation.bundle = std::move(*bundle);
  for (auto &run : runs)
    describeBundle(compilation.bundle, run->getProgram(), run->getPhases().facts->getTarget(),
                   run->getCompiled().report);
  return success();
}

/// Returns whether a program can exceed a budget or its device's memory.
bool Run::isBounded() const { return options.budget || targets.haveMemory(); }

/// Refuses a cut whose programs do not fit. Returns whether another cut is possible: with less work
/// for the devices with too little memory, or, with the schedule `auto`, with another schedule.
bool Run::refuseCut() {
  pipe::CutAttr taken = pipe::findTakenCut(module);
  if (!taken || taken.isRefused())
    return false;
  std::vector<double> rooms(phases.stages.devices, 1); // those of the fullest replica
  for (auto [device, run] : llvm::enumerate(runs))
    rooms[device % rooms.size()] =
        std::min(rooms[device % rooms.size()], run->getShortRoom().value_or(1));
  cutInputs.refused.push_back(
      {taken.getSchedule().str(), taken.getChunks(), taken.getRanges(), std::move(rooms)});
  return true;
}

/// Switches to cuts for the fewest bytes, whatever the budget. Returns false if it had switched
/// before.
bool Run::cutForLeast() {
  if (!options.budget || std::exchange(cutInputs.isForLeast, true))
    return false;
  cutInputs.refused.clear();
  for (pipe::StageDevice &device : cutInputs.devices) {
    device.arena = 0;
    device.share.reset();
  }
  return true;
}

/// Lowers `least` to a budget that fits all programs of this cut, and plans them if they fit the
/// budget.
LogicalResult Run::measure() {
  if (failed(options.budget->share ? findSaveAllBytes() : success()) ||
      failed(forEachRun([](ProgramRun &run) { return run.measure(); })))
    return failure();
  auto isOver = [](const auto &run) { return run->leastBytes() > *run->getBudget(); };
  int64_t most = 0;
  for (auto &run : runs)
    most = std::max(most, run->leastBytes());
  least = std::min(least.value_or(most), most);
  return llvm::any_of(runs, isOver) ? success() : plan();
}

/// Replays more units of the parts of a model, whose devices cannot replay alone what they have
/// received. Returns false for a step without parts, and if all units are replayed.
bool Run::replayMore() {
  int64_t &percent = phases.stages.replayedPercent;
  if (phases.stages.modelParts == 1 || !phases.stages.checkpoint.empty())
    return false;
  int64_t most = 0;
  for (auto &run : runs)
    if (run->getShortRoom())
      most = std::max(most, run->leastBytes());
  least = std::min(least.value_or(most), most);
  percent += 50;
  return percent <= 100;
}

/// Drops the programs of a cut that does not fit. Those of the first cut stay, for the error.
void Run::startAgain(ModuleOp start, Phase begin, Refused &first) {
  OwningOpRef<ModuleOp> used = ModuleOp::create(module.getLoc());
  used->getBodyRegion().takeBody(module.getBodyRegion());
  (*used)->setDiscardableAttrs(module->getDiscardableAttrDictionary());
  module->setDiscardableAttrs(start->getDiscardableAttrDictionary());
  module.getBodyRegion().takeBody(OwningOpRef<ModuleOp>(start.clone())->getBodyRegion());
  if (!first.module)
    first = {std::move(used), std::move(runs)};
  runs.clear();
  after = begin;
}

/// Plans the stages. If programs of a cut do not fit, another cut is made. If no cut fits, the
/// error is that of the first cut, at the program with the largest deficit, with the smallest
/// budget of all cuts for the fewest bytes.
LogicalResult Run::planStages() {
  OwningOpRef<ModuleOp> start;
  Refused first;
  Phase begin = after;
  auto roomOf = [](const auto &run) { return run->getShortRoom(); };
  auto hasLess = [&](const auto &a, const auto &b) {
    return roomOf(a).value_or(1) < roomOf(b).value_or(1);
  };
  bool isCut = phases.stages.countPrograms() > 1;
  if (isCut && failed(describeDevices()))
    return failure();
  if (isCut && begin < Phase::Partition && isBounded())
    start = module.clone();
  auto isLate = startClock(options).isLate;
  while (true) {
    if (failed(partition()) || failed(checkProfile()))
      return failure();
    pipe::CutAttr cut = pipe::findTakenCut(module);
    bool isKnown = first.module && cut && cut.isRefused() && phases.stages.modelParts == 1;
    if (!isKnown && (failed(cutInputs.isForLeast ? measure() : plan()) || failed(checkCancelled())))
      return failure();
    if (!isKnown && llvm::none_of(runs, roomOf))
      return success();
    bool isOver = options.timeLimitSeconds.value_or(0) > 0 && isLate(); // 0: the first plans of all
    bool isOfParts = phases.stages.modelParts > 1;
    if (!start || isOver ||
        (isOfParts ? !replayMore() : (isKnown || !refuseCut()) && !cutForLeast()))
      return (*llvm::min_element(first.module ? first.runs : runs, hasLess))->refuse(least);
    startAgain(*start, begin, first);
  }
}

/// Lowers the planned programs. Sends depend on the plans of the programs that receive.
LogicalResult Run::lower() {
  if (failed(forEachRun([&](ProgramRun &run) { return run.checkpoint(after); })) ||
      (after < Phase::Checkpoint && failed(repeatSends(module))) ||
      failed(forEachRun([&](ProgramRun &run) { return run.form(after); })))
    return failure();
  return placeBuffers(module, runs, after, hidden);
}

FailureOr<Compilation> Run::run() {
  if (failed(targets.load(0)) || failed(differentiate()))
    return failure();
  loadDialects(*module.getContext(), phases);
  if (failed(planStages()) || failed(lower()))
    return failure();
  if (failed(checkCancelled()) || failed(options.estimateOnly ? estimate() : build()))
    return failure();
  for (auto &run : runs) {
    if (failed(run->checkBudget()))
      return failure();
    compilation.programs.push_back(std::move(run->getCompiled()));
  }
  if (phases.stages.countPrograms() > 1)
    compilation.pipeline =
        describePipeline(module, compilation.programs, phases.stages.schedule == "auto", hidden);
  return std::move(compilation);
}

FailureOr<Compilation> compile(ModuleOp module, const CompileOptions &options) {
  return Run(module, takePlanOptions(options)).run();
}

} // namespace reprise
