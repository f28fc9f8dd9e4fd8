// reprise: what a step costs its planner: launches, bytes beside the plan, seconds of replays
#include "StepFootprint.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Exec/Transforms/Launches.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Kinds.h"
#include "reprise/Planning/Checkpoint/Labels/NearlyFree.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Target/LaunchFacts.h"

using namespace mlir;
using namespace reprise;
using checkpoint::Footprint;
using checkpoint::Kind;

/// Counts bytes of an op as a part of its launch: operands from other launches, and results.
static double findSecondsInLaunch(Operation *op, const exec::LaunchNumbers &numbers,
                                  const CostModel &costs) {
  int64_t bytes = 0;
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || numbers.of.lookup_or(definition, -1) != numbers.of.lookup(op))
      bytes += getByteSize(operand.getType());
  }
  for (Value result : op->getResults())
    bytes += getByteSize(result.getType());
  return costs.getSeconds(op, bytes);
}

/// Returns the seconds of all iterations of the loops around the op.
static double findLoopSeconds(LoopOp loop, const exec::LaunchNumbers &numbers,
                              const CostModel &costs) {
  double seconds = numbers.inBody.lookup(loop) * costs.getLaunchSeconds();
  for (Operation &op : loop.getBlock().without_terminator())
    if (auto inner = dyn_cast<LoopOp>(op))
      seconds += findLoopSeconds(inner, numbers, costs);
    else if (numbers.of.contains(&op) && !exec::isExplicit(&op))
      seconds += findSecondsInLaunch(&op, numbers, costs);
  return static_cast<double>(loop.getTrip()) * seconds;
}

namespace {

class Survey {
public:
  Survey(const PlanningScope &scope, ProgramOp step, LaunchFacts &facts, const CostModel &costs)
      : scope(scope), problem(scope.problem), block(step.getBody().front()), step(step),
        signature(step), facts(facts), numbers(exec::numberLaunches(step, facts.getTarget())),
        formed(exec::formLaunches(step, numbers, facts.getTarget())), costs(costs),
        members(scope.ops.begin(), scope.ops.end()),
        isNearlyFree(checkpoint::findNearlyFree(scope.problem)) {}

  FailureOr<Footprint> run();
  Footprint runBodies();
  checkpoint::LaunchLinks links; ///< links between the launches of the result of `run`

private:
  /// Returns the launch of an op; kNoLaunch for an op without a launch and for the null between two
  /// bodies.
  int launchOf(Operation *op) const {
    // An offloaded value is read from the place where its launch has stored it.
    if (auto offload = dyn_cast_or_null<OffloadOp>(op))
      if (Operation *maker = offload.getOperand().getDefiningOp())
        op = maker;
    auto found = numbers.of.find(op);
    return found == numbers.of.end() ? checkpoint::kNoLaunch : found->second;
  }
  /// Visits the ops with launches that read the value, directly or through ops without launches,
  /// and the terminator.
  void forEachReader(Value value, llvm::function_ref<void(OpOperand &, Operation *)> visit) const;
  std::vector<int> findReaders(Operation *op) const;
  void addNeighbours(Footprint &footprint);
  void addValue(Value value, Footprint &footprint);
  LogicalResult addScratch(Footprint &footprint);
  void addOrder();
  void findInPlace(Footprint &footprint) const;
  void findMemoryReads();
  /// Least share of the seconds that a replay costs. No replay is free, so that plans have no
  /// needless ones.
  static constexpr double kLeastShare = 0.01;
  double findSeconds(size_t index) const;
  double findBodySeconds(size_t index) const;

  const PlanningScope &scope;
  const checkpoint::Problem &problem;
  Block &block;
  ProgramOp step;
  EntrySignature signature;
  LaunchFacts &facts;
  exec::LaunchNumbers numbers;
  exec::FormedLaunches formed;
  const CostModel &costs;
  DenseSet<Operation *> members;
  std::vector<bool> isNearlyFree;   ///< per value: the fastest plan replays it
  std::vector<bool> readFromMemory; ///< per value: an op of the backward pass or a replay reads it
};

} // namespace

void Survey::forEachReader(Value value,
                           llvm::function_ref<void(OpOperand &, Operation *)> visit) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (user->hasTrait<OpTrait::IsTerminator>() || launchOf(user) != checkpoint::kNoLaunch) {
      visit(use, user);
      continue;
    }
    for (Value result : user->getResults())
      forEachReader(result, visit);
  }
}

/// Returns the launches that read a result of the op.
std::vector<int> Survey::findReaders(Operation *op) const {
  std::vector<int> readers;
  for (Value result : op->getResults())
    forEachReader(result, [&](OpOperand &, Operation *reader) {
      if (int launch = launchOf(reader); launch != checkpoint::kNoLaunch)
        readers.push_back(launch);
    });
  return readers;
}

/// Adds the waits between launches. A launch waits for the launches that it reads from. The launch
/// of an argument's next value, which overwrites the argument, waits for all readers of the old
/// value.
void Survey::addOrder() {
  links.next.resize(numbers.count);
  auto wait = [&](int before, int after) {
    if (before != after)
      links.next[before].push_back(after);
  };
  for (Operation &op : block.without_terminator())
    if (int own = launchOf(&op); own != checkpoint::kNoLaunch)
      for (int reader : findReaders(&op))
        wait(own, reader);
  ArrayRef<int64_t> replaced = signature.getReplacedArguments();
  for (OpOperand &end : block.getTerminator()->getOpOperands()) {
    Operation *maker = end.get().getDefiningOp();
    int64_t argument = replaced[end.getOperandNumber()];
    int writer = maker ? launchOf(maker) : checkpoint::kNoLaunch;
    if (argument < 0 || writer == checkpoint::kNoLaunch)
      continue;
    forEachReader(block.getArgument(argument), [&](OpOperand &, Operation *reader) {
      if (int launch = launchOf(reader); launch != checkpoint::kNoLaunch && launch < writer)
        wait(launch, writer);
    });
  }
  for (std::vector<int> &next : links.next) {
    llvm::sort(next);
    next.erase(llvm::unique(next), next.end());
  }
}

/// Adds the neighbours: results of ops outside of the scope that are live from launch to launch.
void Survey::addNeighbours(Footprint &footprint) {
  for (Operation &op : block.without_terminator()) {
    int own = launchOf(&op);
    if (own == checkpoint::kNoLaunch || members.contains(&op))
      continue;
    for (Value result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType())) // an event
        continue;
      std::vector<int> readers;
      bool isNext = false;
      forEachReader(result, [&](OpOperand &use, Operation *reader) {
        int launch = launchOf(reader);
        isNext |= use.get() == result && signature.isNextValue(use);
        readers.push_back(launch == checkpoint::kNoLaunch ? numbers.count : launch);
      });
      int last = readers.empty() ? own : *llvm::max_element(readers);
      if (last <= own || isNext)
        continue;
      footprint.neighbours.push_back({own, last, getByteSize(result.getType())});
      links.neighbourReaders.push_back(std::move(readers));
    }
  }
}

void Survey::addValue(Value value, Footprint &footprint) {
  std::vector<int> readers;
  // The operand of an offload lies in memory in the place of its result.
  bool isStored = llvm::none_of(value.getUsers(), llvm::IsaPred<OffloadOp>);
  forEachReader(value, [&](OpOperand &use, Operation *reader) {
    if (members.contains(reader))
      return;
    int launch = launchOf(reader);
    isStored &= use.get() != value || !signature.isNextValue(use);
    readers.push_back(launch == checkpoint::kNoLaunch ? numbers.count : launch);
  });
  footprint.lastOutside.push_back(readers.empty() ? -1 : *llvm::max_element(readers));
  links.outside.push_back(std::move(readers));
  footprint.isStored.push_back(isStored);
}

/// Returns the op of a launch that stands for the launch's scratch: the first op that reads memory,
/// or else the first op.
LogicalResult Survey::addScratch(Footprint &footprint) {
  std::vector<int64_t> scratch(numbers.count); // of a loop, the most of its launches
  for (auto [launch, number] : formed.launches) {
    FailureOr<Scratch> own = facts.findScratch(launch);
    if (failed(own))
      return failure();
    if (number >= 0)
      scratch[number] = std::max(scratch[number], own->shared);
  }
  std::vector<std::optional<size_t>> leaders(numbers.count);
  auto readsMemory = [&](size_t op) { return checkpoint::usesMemory(problem.operations[op]); };
  for (size_t i = 0; i < scope.ops.size(); ++i)
    if (isa_and_present<OffloadOp>(scope.ops[i]))
      continue;
    else if (int launch = footprint.launches[i]; launch != checkpoint::kNoLaunch)
      if (auto &leader = leaders[launch]; !leader || (readsMemory(i) && !readsMemory(*leader)))
        leader = i;
  footprint.scratch.resize(scope.ops.size());
  for (auto [launch, leader] : llvm::enumerate(leaders)) {
    int number = static_cast<int>(launch);
    if (leader) {
      footprint.scratch[*leader] = scratch[launch];
    } else if (scratch[launch] > 0) {
      footprint.neighbours.push_back({number, number, scratch[launch]});
      links.neighbourReaders.push_back({number});
    }
  }
  return success();
}

/// Finds the ops whose kernels read memory and whose results may lie in the place of operands that
/// die, as the stacks of a loop may lie in the place of its slices.
void Survey::findInPlace(Footprint &footprint) const {
  footprint.inPlace.resize(scope.ops.size());
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    footprint.inPlace[i] = op && overwritesOperand(op);
    auto loop = dyn_cast_or_null<LoopOp>(formed.loops.lookup(op));
    if (!loop)
      continue;
    auto mayShare = [&](OpResult result, unsigned input) { return facts.mayShare(result, input); };
    for (unsigned stack = 0; stack < loop.getStacks().size(); ++stack)
      for (unsigned slice = 0; slice < loop.getXs().size(); ++slice)
        if (exec::mayTakeRows(loop, slice, stack, mayShare))
          footprint.inPlace[i] = true;
  }
}

/// Finds the values that backward ops or replays read from memory. One sweep from the end is
/// enough, because readers come after the values that they read; views pass reads on to their
/// operands.
void Survey::findMemoryReads() {
  readFromMemory.resize(problem.values.size());
  for (size_t i = problem.operations.size(); i-- > 0;) {
    const checkpoint::Problem::Operation &op = problem.operations[i];
    bool viewed = false;
    for (int r = op.firstResult; r < op.firstResult + op.numResults; ++r)
      viewed |= readFromMemory[r];
    bool isView = launchOf(scope.ops[i]) == checkpoint::kNoLaunch;
    bool fromMemory = isView ? viewed : checkpoint::usesMemory(op);
    for (int operand : op.operands)
      if (operand != checkpoint::kAvailable && fromMemory)
        readFromMemory[operand] = true;
  }
}

/// Returns the seconds of one replay: its arithmetic, and its reads of values outside of the
/// problem. The footprint counts launches and reads of the problem's values, because plans differ
/// in them.
double Survey::findSeconds(size_t index) const {
  Operation *op = scope.ops[index];
  if (launchOf(op) == checkpoint::kNoLaunch)
    return 0;
  if (isa<PullOp>(op))
    return costs.getCopySeconds(getByteSize(op->getResult(0).getType()));
  if (isa<OffloadOp>(op))
    return costs.getOffloadSeconds(getByteSize(op->getResult(0).getType()));
  if (auto loop = dyn_cast<LoopOp>(op)) {
    int64_t moved = 0; // what the planner counts beside it
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                           SmallVector<Value>(op->getResults())))
      moved += getByteSize(value.getType());
    double beside = costs.getLaunchSeconds() + costs.getTransferSeconds(moved);
    return std::max(0.0, findLoopSeconds(loop, numbers, costs) - beside);
  }
  int64_t bytes = 0;
  for (auto [value, operand] : llvm::zip(op->getOperands(), problem.operations[index].operands))
    if (operand == checkpoint::kAvailable)
      bytes += getByteSize(value.getType());
  return costs.getSeconds(op, bytes);
}

/// Returns the seconds of a replay in a body with its traffic, because all replays of a body are in
/// one launch.
double Survey::findBodySeconds(size_t index) const {
  Operation *op = scope.ops[index];
  const checkpoint::Problem::Operation &entry = problem.operations[index];
  if (launchOf(op) == checkpoint::kNoLaunch)
    return 0;
  if (auto loop = dyn_cast<LoopOp>(op))
    return findLoopSeconds(loop, numbers, costs);
  if (entry.kind != Kind::Elementwise)
    return findSecondsInLaunch(op, numbers, costs) + costs.getLaunchSeconds();
  if (readFromMemory[entry.firstResult])
    return findSecondsInLaunch(op, numbers, costs);
  if (isNearlyFree[entry.firstResult])
    return kLeastShare * costs.getSeconds(op, 0);
  // A replay inside its reader spares the write and the read of a saved value.
  double spared = costs.getTransferSeconds(2 * problem.values[entry.firstResult].bytes);
  double seconds = costs.getSeconds(op, 0);
  return std::max(seconds - spared, kLeastShare * seconds);
}

static int64_t countBytes(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getByteSize(value.getType());
  return bytes;
}

double reprise::countLaunchSeconds(exec::LaunchOp launch, const CostModel &costs) {
  SmallVector<Operation *> ops;
  for (Operation &op : launch.getBody().front().without_terminator())
    ops.push_back(&op);
  double once =
      costs.getLaunchSeconds() +
      costs.getSeconds(ops, countBytes(launch.getInputs()) + countBytes(launch.getResults()));
  return once * static_cast<double>(countExecutions(launch));
}

double reprise::findStepSeconds(ProgramOp step, const LaunchFacts &facts, const CostModel &costs) {
  exec::LaunchNumbers numbers = exec::numberLaunches(step, facts.getTarget());
  exec::FormedLaunches formed = exec::formLaunches(step, numbers, facts.getTarget());
  double seconds = 0;
  for (auto [launch, number] : formed.launches)
    seconds += countLaunchSeconds(launch, costs);
  return seconds;
}

FailureOr<Footprint> Survey::run() {
  Footprint footprint;
  footprint.numLaunches = numbers.count;
  footprint.launchSeconds = costs.getLaunchSeconds();
  footprint.byteSeconds = costs.getTransferSeconds(1);
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    int launch = launchOf(op);
    std::vector<int> readers;
    if (launch == checkpoint::kNoLaunch)
      readers = findReaders(op);
    int first = readers.empty() ? numbers.count - 1 : *llvm::min_element(readers);
    footprint.launches.push_back(launch);
    footprint.times.push_back(launch == checkpoint::kNoLaunch ? first : launch);
    links.readers.push_back(std::move(readers));
    footprint.seconds.push_back(findSeconds(i));
    for (Value result : op->getResults())
      addValue(result, footprint);
  }
  addNeighbours(footprint);
  addOrder();
  findInPlace(footprint);
  if (failed(addScratch(footprint)))
    return failure();
  return footprint;
}

Footprint Survey::runBodies() {
  Footprint footprint;
  findMemoryReads();
  int bodies = 0;
  for (const checkpoint::Problem::Operation &op : problem.operations)
    bodies = std::max(bodies, op.body + 1);
  footprint.numLaunches = 2 * bodies;
  for (auto [i, op] : llvm::enumerate(scope.ops)) {
    int launch = 2 * problem.operations[i].body;
    bool isView = launchOf(op) == checkpoint::kNoLaunch;
    footprint.launches.push_back(isView ? checkpoint::kNoLaunch : launch);
    footprint.times.push_back(launch);
    footprint.seconds.push_back(
        isView ? 0 : static_cast<double>(countExecutions(op)) * findBodySeconds(i));
  }
  for (const checkpoint::Problem::Value &value : problem.values)
    footprint.lastOutside.push_back(value.outlives ? footprint.numLaunches : -1);
  footprint.isStored.assign(problem.values.size(), true);
  return footprint;
}

Footprint reprise::findBodyFootprint(const PlanningScope &scope, ProgramOp step, LaunchFacts &facts,
                                     const CostModel &costs) {
  return Survey(scope, step, facts, costs).runBodies();
}

FailureOr<Footprint> reprise::findFootprint(const PlanningScope &scope, ProgramOp step,
                                            LaunchFacts &facts, const CostModel &costs,
                                            checkpoint::LaunchLinks *links) {
  Survey survey(scope, step, facts, costs);
  FailureOr<Footprint> footprint = survey.run();
  if (links)
    *links = std::move(survey.links);
  return footprint;
}
