// reprise: seconds and bytes of a step with marks of stages
#include "StageProblem.h"

#include "Order.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"
#include "reprise/Planning/Checkpoint/Labels/FollowLabels.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;
using checkpoint::Decision;

std::optional<int64_t> StageProblem::getUnit(Operation *op) const {
  // All parts of a model take equally long, so the first part counts.
  return getNumber(op, kModelPartAttr).value_or(0) == 0 ? getNumber(op, kStageAttr) : std::nullopt;
}

static bool isForward(Operation *op) {
  return op->hasAttr(kPrimalAttr) && getNumber(op, kOrderAttr).value_or(0) == 0;
}

/// Returns true for the gradient of a weight, or an op that sums it over micro-batches.
static bool isOfWeight(Operation *op) {
  return op->hasAttr(kBatchSumAttr) && op->hasAttr(kCotangentAttr);
}

bool StageProblem::isFirst(Operation *op) const {
  return getNumber(op, kMicrobatchAttr).value_or(0) == 0;
}

double &StageProblem::pick(pipeline::Stage &stage, Operation *op) const {
  return isForward(op) ? stage.forward : isOfWeight(op) ? stage.weight : stage.backward;
}

StageProblem::StageProblem(ProgramOp step, const StageInputs &inputs, StringRef checkpoint,
                           int64_t replicas)
    : step(step), inputs(inputs), microbatches(pipe::countMicrobatches(step)), replicas(replicas) {
  for (const StageDevice &device : inputs.devices) {
    auto found = llvm::find(models, device.costs.get());
    modelOf.push_back(static_cast<int>(found - models.begin()));
    if (found == models.end())
      models.push_back(device.costs.get());
  }
  for (Operation &op : step.getBody().front()) {
    if (std::optional<int64_t> unit = getUnit(&op))
      problem.units.resize(std::max<size_t>(problem.units.size(), *unit + 1));
  }
  problem.outside.resize(problem.units.size());
  problem.replayed.resize(problem.units.size());
  madeForWeight.resize(problem.units.size());
  numParameters.resize(problem.units.size());
  for (const CostModel *model : ArrayRef(models).drop_front()) {
    stages::Problem::Rates &rates = problem.rates.emplace_back();
    rates.units.resize(problem.units.size());
    int64_t bytes = 1 << 20;
    rates.transfers = model->getCopySeconds(bytes) / models[0]->getCopySeconds(bytes);
  }
  addSeconds();
  addResident();
  addValues();
  addSaved(checkpoint);
  addMadeForWeight();
}

/// Adds seconds, as means over the micro-batches, whose sizes may differ by one.
void StageProblem::addSeconds() {
  auto count = static_cast<double>(microbatches);
  for (Operation &op : step.getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    if (!unit)
      continue;
    pick(problem.units[*unit], &op) += models[0]->getSecondsAlone(&op) / count;
    for (auto [rates, model] : llvm::zip(problem.rates, ArrayRef(models).drop_front()))
      pick(rates.units[*unit], &op) += model->getSecondsAlone(&op) / count;
    pipeline::Stage &own = problem.units[*unit];
    int64_t &most = isOfWeight(&op) ? own.closing : own.working;
    most = std::max(most, countWorking(&op));
  }
}

/// Returns the bytes of an op. Arguments and sums of gradients are resident: an addition to a sum
/// overwrites it, and a contraction adds its result directly.
int64_t StageProblem::countWorking(Operation *op) {
  auto isGradient = [](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && isOfWeight(maker);
  };
  if (llvm::any_of(op->getOperands(), isGradient))
    return 0;
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    if (!isa<BlockArgument>(value))
      bytes += getByteSize(value.getType());
  if (isOfWeight(op) && isContractionKind(getKindName(op)))
    return bytes;
  for (Value value : op->getResults())
    bytes += getByteSize(value.getType());
  return bytes;
}

/// Adds resident bytes. Parameters, with their gradients, states and inputs belong to the first
/// unit that reads them. Arguments that only updates read belong to the unit of the updated
/// argument.
void StageProblem::addResident() {
  EntrySignature signature(step);
  DenseMap<Value, int64_t> homes;
  for (BlockArgument argument : step.getArguments())
    for (Operation *user : argument.getUsers())
      if (std::optional<int64_t> unit = getUnit(user))
        homes[argument] = homes.count(argument) ? std::min(homes[argument], *unit) : *unit;
  for (Operation &op : step.getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    for (Value operand : op.getOperands())
      if (auto home = homes.find(operand); !unit && home != homes.end())
        unit = home->second;
    if (!unit)
      continue;
    for (Value result : op.getResults())
      homes[result] = *unit;
    for (Value operand : op.getOperands())
      homes.try_emplace(operand, *unit);
  }
  // We walk backward, because an optimizer scales its states before it combines them with the
  // gradient.
  for (Operation &op : llvm::reverse(step.getBody().front()))
    for (Value result : op.getResults())
      if (auto found = homes.find(result); found != homes.end()) {
        int64_t home = found->second;
        for (Value operand : op.getOperands())
          homes.try_emplace(operand, home);
      }
  for (BlockArgument argument : step.getArguments()) {
    auto home = homes.find(argument);
    if (home == homes.end() || problem.units.empty())
      continue;
    int64_t bytes = getByteSize(argument.getType());
    bool hasGradient = signature.getRole(argument.getArgNumber()) == "parameter";
    problem.outside[home->second] += bytes;
    problem.units[home->second].resident += hasGradient ? 2 * bytes : bytes;
    numParameters[home->second] += hasGradient;
    if (hasGradient)
      addTied(argument, static_cast<int>(home->second));
  }
}

void StageProblem::addTied(Value argument, int home) {
  std::set<int> readers;
  for (Operation *user : argument.getUsers())
    if (std::optional<int64_t> unit = getUnit(user); unit && *unit > home)
      readers.insert(static_cast<int>(*unit));
  if (!readers.empty())
    problem.tied.push_back(
        {home, std::vector<int>(readers.begin(), readers.end()), getByteSize(argument.getType())});
}

/// Adds values that a unit sends to later units, and their gradients.
void StageProblem::addValues() {
  for (Operation &op : step.getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    if (!unit || !isFirst(&op) || !op.hasAttr(kPrimalAttr))
      continue;
    for (Value result : op.getResults()) {
      std::set<int> readers;
      for (Operation *user : result.getUsers())
        if (std::optional<int64_t> reader = getUnit(user); reader && *reader > *unit)
          readers.insert(static_cast<int>(*reader));
      if (readers.empty())
        continue;
      int64_t bytes = getByteSize(result.getType());
      double seconds = models[0]->getCopySeconds(bytes);
      problem.values.push_back({static_cast<int>(*unit),
                                std::vector<int>(readers.begin(), readers.end()), seconds, seconds,
                                bytes});
    }
  }
}

static bool isReadByWeight(Value value) { return llvm::any_of(value.getUsers(), isOfWeight); }

/// Returns whether a buffer is saved, by the number of its first value: a saved view keeps the
/// buffer of the value that it shows.
static std::vector<bool> findHeld(const checkpoint::Problem &problem,
                                  const checkpoint::Solution &solution) {
  std::vector<bool> isHeld(problem.values.size());
  for (auto [value, decision] : llvm::zip_equal(problem.values, solution.decisions))
    if (value.root >= 0 && (decision == Decision::Saved || decision == Decision::Kept))
      isHeld[value.root] = true;
  return isHeld;
}

/// Adds the bytes of a micro-batch that the labels save, and the cost of replays; or those of a
/// mode. A replay of a saved value runs its op, and the ops before it whose values are not saved.
void StageProblem::addSaved(StringRef mode) {
  if (const CheckpointMode *found = findCheckpointMode(mode))
    return addReplayed(*found);
  std::optional<PlanningScope> scope = findJointScope(step);
  if (!scope)
    return;
  checkpoint::Solution solution = checkpoint::followLabels(scope->problem);
  const auto &operations = scope->problem.operations;
  for (const checkpoint::Execution &execution : solution.executions) {
    Operation *op = scope->ops[execution.operation];
    std::optional<int64_t> unit = op ? getUnit(op) : std::nullopt;
    if (execution.replay == 0 || !unit)
      continue;
    auto count = static_cast<double>(microbatches);
    double seconds = models[0]->getSecondsAlone(op) / count;
    problem.units[*unit].backward += seconds;
    problem.replayed[*unit] += seconds;
    for (auto [rates, model] : llvm::zip(problem.rates, ArrayRef(models).drop_front()))
      rates.units[*unit].backward += model->getSecondsAlone(op) / count;
  }
  std::vector<bool> isHeld = findHeld(scope->problem, solution);
  std::vector<double> pending(scope->problem.values.size());
  for (size_t i = 0; i < operations.size(); ++i) {
    Operation *op = scope->ops[i];
    std::optional<int64_t> unit = op ? getUnit(op) : std::nullopt;
    if (!unit || !operations[i].primal || !isFirst(op))
      continue;
    double seconds = models[0]->getSecondsAlone(op);
    for (int operand : operations[i].operands)
      if (operand >= 0)
        seconds += std::exchange(pending[operand], 0.0);
    for (int result = 0; result < operations[i].numResults; ++result) {
      int number = operations[i].firstResult + result;
      const checkpoint::Problem::Value &value = scope->problem.values[number];
      if (!isHeld[number] || value.root != number || value.outlives) {
        pending[number] = seconds;
        continue;
      }
      pipeline::Stage &own = problem.units[*unit];
      (isReadByWeight(op->getResult(result)) ? own.savedForWeight : own.saved) += value.bytes;
      if (value.label != checkpoint::Problem::Label::MustSave)
        problem.replays.push_back({static_cast<int>(*unit), value.bytes, seconds});
    }
  }
}

/// Adds the replay of a micro-batch: a stage runs its forward pass again, from its received values.
void StageProblem::addReplayed(const CheckpointMode &mode) {
  int64_t own = countMicrobatches();
  int64_t replays = mode.replaysLast + (own - 1) * mode.replaysOthers;
  double share = static_cast<double>(replays) / static_cast<double>(own);
  for (auto [unit, replayed] : llvm::zip(problem.units, problem.replayed)) {
    replayed = share * unit.forward;
    unit.backward += replayed;
  }
  for (stages::Problem::Rates &rates : problem.rates)
    for (pipeline::Stage &unit : rates.units)
      unit.backward += share * unit.forward;
  for (Operation &op : step.getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    if (mode.replaysLast || !unit || !isForward(&op) || !isFirst(&op))
      continue;
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), [](Operation *user) { return !isForward(user); })) {
        pipeline::Stage &own = problem.units[*unit];
        (mode.replaysOthers ? own.resident : own.saved) += getByteSize(result.getType());
      }
  }
}

/// Gradients that only the gradients of weights still read.
void StageProblem::addMadeForWeight() {
  DenseSet<Value> counted;
  for (Operation &op : step.getBody().front()) {
    std::optional<int64_t> unit = getUnit(&op);
    if (!unit || !isFirst(&op) || !isOfWeight(&op))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && getUnit(maker) &&
                                                      !isForward(maker) && !isOfWeight(maker) &&
                                                      counted.insert(operand).second)
        madeForWeight[*unit] += getByteSize(operand.getType());
  }
}

stages::Problem StageProblem::make(const pipeline::Schedule &schedule,
                                   ArrayRef<double> rooms) const {
  stages::Problem made = problem;
  made.slots = pipeline::countSlots(schedule);
  if (schedule.splitsBackward)
    for (auto [unit, bytes] : llvm::zip(made.units, madeForWeight))
      unit.madeForWeight = bytes;
  const pipeline::Shape &shape = schedule.shape;
  for (int stage = 0; stage < shape.stages(); ++stage) {
    int rank = shape.rankOf(stage);
    const StageDevice &given = inputs.devices[rank];
    stages::Device &device = made.devices.emplace_back();
    device.rates = modelOf[rank] - 1;
    if (stage > 0)
      device.transfers = given.costs->getLinks().getFactor(shape.rankOf(stage - 1), rank);
    // A share refers to the device that needs most, usually the device with most micro-batches in
    // flight.
    if (made.slots[stage] == *std::max_element(made.slots.begin(), made.slots.end()))
      device.share = rooms[rank] * given.share.value_or(0);
    auto take = [&](int64_t bytes) {
      return static_cast<int64_t>(rooms[rank] * static_cast<double>(bytes / shape.chunks));
    };
    if (given.arena)
      device.arena = take(*given.arena);
    if (std::optional<int64_t> memory = given.costs->getRates().memory)
      device.memory = take(*memory);
  }
  return made;
}
