// reprise: the stage and the pass of each op of a step
#include "Places.h"

#include "Order.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

/// Bit i is set if expansion i of a gradient made the op.
static int64_t getOrder(Operation *op) { return getNumber(op, kOrderAttr).value_or(0); }

bool reprise::pipe::isOfGradient(Operation *op) {
  return op->hasAttr(kPrimalAttr) || op->hasAttr(kCotangentAttr);
}

/// The inverse of s ^ (s >> 1).
static int64_t findSweep(int64_t order) {
  int64_t sweep = 0;
  for (; order; order >>= 1)
    sweep ^= order;
  return sweep;
}

Places::Places(ProgramOp step, int64_t stages, int64_t replicas, bool splitsBackward)
    : step(step), signature(step), stages(stages), replicas(replicas),
      sweeps(pipe::countSweeps(step)), microbatches(pipe::countMicrobatches(step)),
      splitsBackward(splitsBackward) {
  findShared();
  findFree();
  findWeights();
  findHomes();
  placeAll();
}

DenseSet<Value> reprise::pipe::findOwned(ProgramOp step) {
  EntrySignature signature(step);
  DenseSet<Value> owned;
  for (BlockArgument argument : step.getArguments()) {
    StringRef role = signature.getRole(argument.getArgNumber());
    if (role == "parameter" || role == "state")
      owned.insert(argument);
  }
  for (int64_t replaced : signature.getReplacedArguments())
    if (replaced >= 0 && signature.getRole(replaced) == "input")
      owned.insert(step.getArgument(replaced));
  return owned;
}

void Places::findShared() {
  DenseSet<Value> owned = findOwned(step);
  for (BlockArgument argument : step.getArguments())
    if (!owned.contains(argument))
      shared.insert(argument);
}

void Places::findFree() {
  for (Operation &op : step.getBody().front().without_terminator())
    if (isFreeOp(op))
      free.insert(&op);
}

bool Places::isFreeOp(Operation &op) {
  if (!isMemoryEffectFree(&op) || op.getNumRegions() != 0)
    return false;
  if (isGather(op))
    return true;
  bool takesArguments = !isOfGradient(&op) || isa<SliceOp, ReshapeOp, BroadcastOp>(op);
  return llvm::all_of(op.getOperands(), [&](Value operand) {
    if (auto argument = dyn_cast<BlockArgument>(operand))
      return takesArguments && isEverywhere(argument);
    return free.contains(operand.getDefiningOp());
  });
}

/// Returns true for an array that is joined from parts on several replicas. Its readers join it, so
/// that each part goes to them straight from its owner.
bool Places::isGather(Operation &op) {
  return isa<ConcatenateOp>(op) && llvm::all_of(op.getOperands(), [&](Value operand) {
           auto argument = dyn_cast<BlockArgument>(operand);
           return argument && step.getArgAttr(argument.getArgNumber(), kReplicaAttr);
         });
}

/// Finds sums over the batch that no op of their micro-batch reads, and ops that add them up.
void Places::findWeights() {
  if (!splitsBackward)
    return;
  for (Operation &op : llvm::reverse(step.getBody().front().without_terminator())) {
    std::optional<int64_t> number = getNumber(&op, kMicrobatchAttr);
    bool isSum = op.hasAttr(kBatchSumAttr) && op.hasAttr(kCotangentAttr);
    if (isSum && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return weights.contains(user) || getNumber(user, kMicrobatchAttr) != number;
        }))
      weights.insert(&op);
  }
}

/// Finds the stage of each argument: the first stage that reads it. A state that only updates read
/// is settled with these updates.
void Places::findHomes() {
  for (BlockArgument argument : step.getArguments()) {
    if (isEverywhere(argument))
      continue;
    std::optional<int64_t> home;
    for (Operation *user : argument.getUsers())
      if (std::optional<int64_t> stage = getNumber(user, kStageAttr))
        home = std::min(home.value_or(*stage), *stage);
    if (home)
      homes[argument] = *home;
  }
}

int64_t Places::rank(const Place &place) const {
  if (place.kind != Place::Within)
    return place.kind == Place::Before ? -1 : (sweeps + 1) * stages;
  if (place.isWeight)
    return sweeps * stages + place.stage;
  return place.sweep * stages + (place.sweep % 2 ? stages - 1 - place.stage : place.stage);
}

void Places::placeAll() {
  for (Operation &op : step.getBody().front().without_terminator())
    if (!free.contains(&op))
      places[&op] = place(op);
  settle();
  // Settling may give an op a later place than its readers have: the readers follow.
  for (Operation &op : step.getBody().front().without_terminator())
    if (auto found = places.find(&op); found != places.end())
      follow(op, found->second);
}

/// Moves the op to the latest place of its operands. Returns true if the op then has the stage of a
/// settled op.
bool Places::follow(Operation &op, Place &own) const {
  bool isKnown = false;
  for (Value operand : op.getOperands()) {
    auto found = places.find(operand.getDefiningOp());
    if (!operand.getDefiningOp() || found == places.end())
      continue;
    const Place &read = found->second;
    if (read.kind == Place::Before)
      continue;
    // Passes of one stage run micro-batches in order, so values of an earlier micro-batch count
    // too.
    bool isWithin = own.kind == Place::Within && read.kind == Place::Within;
    isKnown |= isWithin && !unsettled.contains(operand.getDefiningOp());
    if (!isWithin)
      own.kind = Place::After;
    else if (rank(read) > rank(own))
      own = {Place::Within, read.stage, read.sweep, read.isWeight, own.microbatch};
  }
  return isKnown;
}

Place Places::place(Operation &op) {
  Place own;
  std::optional<int64_t> number = getNumber(&op, kMicrobatchAttr);
  bool isWithin = isOfGradient(&op) && (number || microbatches == 1);
  if (isWithin || number)
    own = {Place::Within, 0, findSweep(getOrder(&op)), weights.contains(&op), number.value_or(0)};
  std::optional<int64_t> stage = getNumber(&op, kStageAttr);
  if (stage)
    marked.insert(&op);
  own.stage = stage.value_or(0);
  if (!follow(op, own) && !stage)
    unsettled.insert(&op);
  return own;
}

/// Returns the stage of the largest values that an op reads or writes; of equal stages, the first.
std::optional<int64_t> Places::findStage(Operation &op) const {
  std::optional<int64_t> best;
  int64_t most = -1;
  auto weigh = [&](Value value, int64_t stage) {
    int64_t bytes = getByteSize(value.getType());
    if (bytes > most || (bytes == most && stage < *best)) {
      most = bytes;
      best = stage;
    }
  };
  for (Value operand : op.getOperands()) {
    Operation *maker = operand.getDefiningOp();
    if (auto home = homes.find(operand); home != homes.end())
      weigh(operand, home->second);
    else if (auto found = places.find(maker);
             found != places.end() && !unsettled.contains(maker) && !isSpread(maker, found->second))
      weigh(operand, found->second.stage);
  }
  return best;
}

/// Settles ops without a stage: at the stage of most of their operands, or otherwise at their
/// readers.
void Places::settle() {
  auto settleAt = [&](Operation &op, int64_t stage) {
    places[&op].stage = stage;
    unsettled.erase(&op);
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (Operation &op : step.getBody().front().without_terminator()) {
      if (!unsettled.contains(&op))
        continue;
      if (std::optional<int64_t> stage = findStage(op)) {
        settleAt(op, *stage);
        hasChanged = true;
      }
    }
    if (hasChanged)
      continue;
    for (Operation &op : llvm::reverse(step.getBody().front().without_terminator()))
      if (unsettled.contains(&op))
        for (Operation *user : op.getUsers())
          if (auto found = places.find(user);
              found != places.end() && unsettled.contains(&op) && !unsettled.contains(user)) {
            settleAt(op, found->second.stage);
            hasChanged = true;
          }
  }
  unsettled.clear();
  for (BlockArgument argument : step.getArguments())
    if (!isEverywhere(argument) && !homes.contains(argument))
      for (Operation *user : argument.getUsers())
        if (auto found = places.find(user); found != places.end()) {
          auto [home, isNew] = homes.try_emplace(argument, found->second.stage);
          home->second = std::min(home->second, found->second.stage);
        }
}

std::optional<Place> Places::get(Operation *op) const {
  auto found = places.find(op);
  if (found == places.end() || isSpread(op, found->second))
    return std::nullopt;
  Place place = found->second;
  if (place.kind == Place::Within)
    return getPass(place.stage, place.sweep, place.isWeight, place.microbatch);
  place.replica = getNumber(op, kReplicaAttr).value_or(0);
  return place;
}

/// Returns whether an op broadcasts a number over a gradient or a state. Its readers compute it, so
/// that devices send only the number. A broadcast before the micro-batches may be part of a forward
/// pass, which has its stage.
bool Places::isSpread(Operation *op, const Place &place) const {
  return isa<BroadcastOp>(op) &&
         (place.kind == Place::After || (place.kind == Place::Before && !marked.contains(op)));
}
