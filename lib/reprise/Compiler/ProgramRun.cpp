// reprise: the compilation of one device program, up to its places in memory
#include "ProgramRun.h"

#include "PlanFile.h"
#include "Report.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/Wording.h"

using namespace mlir;
using namespace reprise;

ProgramRun::ProgramRun(ProgramOp program, const CompileOptions &options, PhaseOptions phases,
                       const CostModel &costs)
    : program(program), options(options), phases(std::move(phases)), costs(costs) {
  if (std::optional<int64_t> memory = costs.getRates().memory)
    room = *memory - countPersistentBytes(program);
}

LogicalResult ProgramRun::startPlanner() {
  if (planner)
    return success();
  planner = std::make_unique<ProgramPlanner>(program, options, phases.facts, costs);
  return planner->start();
}

FailureOr<int64_t> ProgramRun::findSaveAllBytes() {
  if (failed(startPlanner()))
    return failure();
  return planner->findSaveAllBytes();
}

LogicalResult ProgramRun::setSaveAllBytes(int64_t bytes) {
  if (failed(startPlanner()))
    return failure();
  planner->setSaveAllBytes(bytes);
  return success();
}

/// Returns the bytes of the budget, or of the device's memory for arena and workspace, if that is
/// less.
FailureOr<int64_t> ProgramRun::findBudget() {
  if (!options.budget)
    return *room;
  FailureOr<int64_t> bytes = planner->resolve(*options.budget);
  if (failed(bytes))
    return failure();
  return room ? std::min(*bytes, *room) : *bytes;
}

/// Says that the device's memory does not do; `least` are bytes of arena and workspace.
LogicalResult ProgramRun::emitNoRoom(int64_t least) const {
  pipe::CutAttr cut = pipe::findTakenCut(program->getParentOfType<ModuleOp>());
  std::string device = std::to_string(*findOnlyDevice(program));
  bool isOne = cut && cut.getChunks() == 1;
  std::string who = phases.stages.countPrograms() == 1 ? "the step"
                    : isOne                            ? "stage " + device
                                                       : "device program " + device;
  int64_t persistent = countPersistentBytes(program);
  InFlightDiagnostic error = ProgramOp(program).emitError()
                             << "the smallest plan found for " << who << " takes "
                             << groupDigits(least + persistent) << " bytes, but its device '"
                             << costs.getRates().name << "' has "
                             << groupDigits(*costs.getRates().memory);
  error.attachNote() << groupDigits(persistent) << " bytes are parameters, states and inputs, "
                     << groupDigits(least) << " are arena and workspace";
  return error;
}

/// Reports that no plan fits. A plan that was packed for one budget may be missed when its own
/// bytes are the budget. Plans of descents are not missed, because they are packed for every
/// refused budget.
LogicalResult ProgramRun::refuse(std::optional<int64_t> known) {
  int64_t budget = *budgetBytes;
  int64_t feasible = options.timeLimitSeconds ? planner->smallestBytes() : planner->leastBytes();
  if (known && room != budget)
    return emitTooSmall(*known);
  FailureOr<int64_t> least = findLeast(budget, feasible);
  if (failed(least))
    return failure();
  return room == budget ? emitNoRoom(*least) : emitTooSmall(*least);
}

LogicalResult ProgramRun::emitTooSmall(int64_t least) const {
  if (options.leastBudget)
    *options.leastBudget = least;
  return planner->emitTooSmall(*budgetBytes, least);
}

/// Finds a smaller budget, in steps of one hundredth, until the same search refuses it.
FailureOr<int64_t> ProgramRun::findLeast(int64_t budget, int64_t feasible) {
  int64_t taken = feasible;
  while (!options.timeLimitSeconds) {
    int64_t less = std::min(taken, feasible - std::max<int64_t>(1, feasible / 100));
    if (less <= budget)
      break;
    FailureOr<std::optional<int64_t>> found = planner->findFitting(less);
    if (failed(found))
      return failure();
    if (!*found)
      break;
    feasible = less;
    taken = **found;
  }
  return feasible;
}

LogicalResult ProgramRun::measure() {
  if (failed(startPlanner()))
    return failure();
  FailureOr<int64_t> bytes = findBudget();
  if (failed(bytes) || failed(planner->plan(1)))
    return failure();
  budgetBytes = *bytes;
  shortRoom = 1 / static_cast<double>(std::max<int64_t>(1, leastBytes()));
  return success();
}

LogicalResult ProgramRun::planWithin() {
  shortRoom.reset();
  if (failed(startPlanner()))
    return failure();
  FailureOr<int64_t> bytes = findBudget();
  if (failed(bytes))
    return failure();
  budgetBytes = *bytes;
  FailureOr<std::optional<BudgetOutcome>> found = planner->plan(*bytes);
  if (failed(found))
    return failure();
  outcome = std::move(*found);
  if (!outcome) {
    auto persistent = static_cast<double>(room == bytes ? countPersistentBytes(program) : 0);
    auto has = std::max(0.0, static_cast<double>(*bytes) + persistent);
    shortRoom = has / (static_cast<double>(planner->smallestBytes()) + persistent);
  }
  return success();
}

/// Reads a plan. The bytes that a share refers to, and the cost of the plan, are known only from
/// the packed program.
FailureOr<StepPlan> ProgramRun::readPlan(const llvm::json::Value &file) {
  if (failed(startPlanner()))
    return failure();
  if (isBounded()) {
    FailureOr<int64_t> bytes = findBudget();
    if (failed(bytes))
      return failure();
    budgetBytes = *bytes;
  }
  if (std::optional<int64_t> own = readBudget(file, options); own && !options.budget)
    budgetBytes = std::min(*own, budgetBytes.value_or(*own));
  FailureOr<StepPlan> plan = readPlanFile(program, file, options.planPath);
  if (failed(plan))
    return failure();
  FailureOr<double> increase = planner->findIncrease(*plan);
  if (failed(increase))
    return failure();
  compiled.report.costIncrease = *increase;
  return plan;
}

LogicalResult ProgramRun::plan(const llvm::json::Value *file) {
  StepPlan plan;
  if (file) {
    FailureOr<StepPlan> read = readPlan(*file);
    if (failed(read))
      return failure();
    plan = std::move(*read);
  } else if (isBounded()) {
    if (failed(planWithin()))
      return failure();
    if (!outcome)
      return success();
    plan = outcome->plan;
  }
  planner.reset();
  llvm::json::Object labels = writeLabels(program);
  llvm::json::Array units = writeUnits(program);
  if (failed(applyPlan(program, plan)))
    return failure();
  if (!options.keepPlan)
    return success();
  compiled.plan = writePlanFile(program, plan, phases.unroll);
  compiled.plan["labels"] = std::move(labels);
  compiled.plan["units"] = std::move(units);
  addOptions(compiled.plan, options, budgetBytes);
  if (phases.stages.replayedPercent > 0)
    compiled.plan["replayed_percent"] = phases.stages.replayedPercent;
  return success();
}

LogicalResult ProgramRun::runPhases(Phase from, Phase to) {
  PassManager manager(program.getContext(), ProgramOp::getOperationName());
  buildProgramPhases(manager, from, to, phases);
  return manager.run(program);
}

LogicalResult ProgramRun::checkpoint(Phase after) { return runPhases(after, Phase::Checkpoint); }

LogicalResult ProgramRun::form(Phase after) {
  if (!budgetBytes && options.budget && options.budget->bytes)
    budgetBytes = *options.budget->bytes;
  if (!budgetBytes || (room && *room < *budgetBytes))
    budgetBytes = room ? room : budgetBytes;
  if (failed(costs.check(program)))
    return failure();
  compiled.name = program.getName().str();
  compiled.device = *findOnlyDevice(program);
  Report &report = compiled.report;
  if (after <= Phase::Checkpoint)
    report.plan = describePlan(program, costs);
  if (outcome) {
    report.budget = describeBudget(*outcome);
    report.costIncrease = report.budget->search->costIncrease;
  } else if (budgetBytes) {
    report.budget = ReportedBudget{*budgetBytes, std::nullopt};
  }
  if (failed(runPhases(std::max(after, Phase::Checkpoint), Phase::Kernels)))
    return failure();
  if (report.plan)
    describeFusion(program, *report.plan);
  describeCosts(program, costs, report);
  return success();
}

/// Returns whether a program with places needs more than `budget` bytes.
static FailureOr<bool> isTooLarge(ProgramOp program, int64_t budget, LaunchFacts &facts,
                                  unsigned threads) {
  FailureOr<int64_t> workspace = facts.findWorkspace(program, threads);
  if (failed(workspace))
    return failure();
  return *exec::getArenaBytes(program) + *workspace > budget;
}

FailureOr<bool> ProgramRun::place(Phase after, OwningOpRef<ProgramOp> before) {
  Phase from = std::max(after, Phase::Kernels);
  if (failed(runPhases(from, Phase::Memory)))
    return failure();
  FailureOr<bool> isRestored = false;
  // Live bytes are known before places are, so the packed program decides.
  if (before && budgetBytes)
    isRestored = isTooLarge(program, *budgetBytes, *phases.facts, countThreads(options));
  if (failed(isRestored))
    return failure();
  if (*isRestored) {
    program.getBody().takeBody(before->getBody());
    program->setAttrs(before->getOperation()->getAttrDictionary());
    if (failed(runPhases(from, Phase::Memory)))
      return failure();
  }
  Report &report = compiled.report;
  report.buffers = describeTimeline(program);
  report.transfers = describeTransfers(program, costs);
  report.backwardLaunch = findBackwardLaunch(program);
  report.inputs = describeInputs(program->getParentOfType<ModuleOp>(), phases);
  return isRestored;
}

LogicalResult ProgramRun::checkBudget() const {
  if (!budgetBytes || options.estimateOnly) // an estimate reports that it does not fit
    return success();
  int64_t taken = compiled.report.arenaBytes + compiled.report.workspaceBytes;
  if (taken > *budgetBytes && room == budgetBytes)
    return emitNoRoom(taken);
  if (taken > *budgetBytes)
    return ProgramOp(program).emitError("the step takes ")
           << groupDigits(taken) << " bytes, " << groupDigits(taken - *budgetBytes)
           << " more than the budget of " << groupDigits(*budgetBytes);
  return success();
}
