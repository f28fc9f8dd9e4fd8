// reprise: the devices that run the ops of the parts of a model and own its arrays
#include "PartPlaces.h"

#include "Order.h"
#include "Places.h"
#include "RowSplitter.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Interfaces/Kinds.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

PartPlaces::PartPlaces(ProgramOp step, PartMesh mesh)
    : step(step), signature(step), mesh(mesh), microbatches(countMicrobatches(step)) {
  assignHomes();
  placeOps();
  placeSlices();
}

static bool isOfUpdate(Operation *op) { return op && !isOfGradient(op) && isRowwise(op); }

void PartPlaces::assignHomes() {
  DenseSet<Value> owned = findOwned(step);
  llvm::EquivalenceClasses<void *> connected;
  connectRows(
      step,
      [&](Value value) {
        return isa<BlockArgument>(value) ? owned.contains(value)
                                         : isOfUpdate(value.getDefiningOp());
      },
      connected);
  auto findLeader = [&](Value value) {
    void *own = value.getAsOpaquePointer();
    return connected.contains(own) ? connected.getLeaderValue(own) : own;
  };
  llvm::MapVector<void *, ArraySet> sets;
  for (BlockArgument argument : step.getArguments())
    if (owned.contains(argument)) {
      ArraySet &set = sets[findLeader(argument)];
      set.bytes += getByteSize(argument.getType());
      if (auto rows = signature.getArgumentRows(argument.getArgNumber()))
        set.part = rows->first / (rows->last - rows->first);
      for (Operation *user : argument.getUsers())
        if (std::optional<int64_t> stage = getNumber(user, kStageAttr))
          set.stage = std::min(set.stage.value_or(*stage), *stage);
    }
  SmallVector<int64_t> held(mesh.countDevices(), 0);
  for (auto &[leader, set] : sets) {
    set.home = findHome(set, held);
    held[set.home] += set.bytes;
  }
  for (BlockArgument argument : step.getArguments())
    if (owned.contains(argument))
      homes[argument.getArgNumber()] = sets.lookup(findLeader(argument)).home;
}

/// Returns the device with the fewest bytes among those of the first stage that reads the arrays.
int64_t PartPlaces::findHome(const ArraySet &set, ArrayRef<int64_t> held) const {
  std::optional<int64_t> best;
  for (int64_t device = 0; device < mesh.countDevices(); ++device) {
    bool isOfStage = !set.stage || device / mesh.parts % mesh.ranks == mesh.findRank(*set.stage);
    bool isOfPart = !set.part || device % mesh.parts == *set.part;
    if (isOfStage && isOfPart && (!best || held[device] < held[*best]))
      best = device;
  }
  return *best;
}

/// Returns the first device of the group of an op's micro-batch and stage; none for an op without
/// a group, and for an op that moves to its readers from everywhere.
std::optional<int64_t> PartPlaces::findGroup(Operation &op) const {
  auto slice = dyn_cast<reprise::SliceOp>(op);
  if (isa<ConstantOp, ConcatenateOp>(op) || (slice && isa<BlockArgument>(slice.getOperand())))
    return std::nullopt;
  std::optional<int64_t> microbatch = getNumber(&op, kMicrobatchAttr),
                         stage = getNumber(&op, kStageAttr);
  if ((mesh.replicas > 1 && !microbatch) || (mesh.ranks > 1 && !stage))
    return std::nullopt;
  return mesh.findGroup(mesh.replicas > 1 ? *microbatch * mesh.replicas / microbatches : 0,
                        stage.value_or(0));
}

/// Returns the devices for which a use reads a value. The readers of the user are known.
PartPlaces::Readers PartPlaces::findReaders(OpOperand &use) {
  Operation *user = step.getBody().front().findAncestorOpInBlock(*use.getOwner());
  if (!user->hasTrait<OpTrait::IsTerminator>())
    return readers.lookup(user);
  int64_t replaced = signature.getReplacedArguments()[use.getOperandNumber()];
  auto home = replaced < 0 ? homes.end() : homes.find(static_cast<unsigned>(replaced));
  int64_t device = home == homes.end() ? 0 : home->second;
  return {device, device};
}

void PartPlaces::setDevice(Operation *op, int64_t device) {
  devices[op] = device;
  readers[op] = {device, device};
}

/// Returns true for an op that costs no more than a transfer of its result.
static bool isMove(Operation &op) {
  return isa<ConstantOp, ConcatenateOp, ViewOpInterface, BroadcastOp>(op);
}

void PartPlaces::placeOps() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::drop_begin(llvm::reverse(step.getBody().front()))))
    placeOp(op);
}

/// Returns true for an op outside of gradients that reads much more than it computes.
static bool isSummary(Operation &op) {
  int64_t read = 0, made = 0;
  for (Value operand : op.getOperands())
    read += getByteSize(operand.getType());
  for (Value result : op.getResults())
    made += getByteSize(result.getType());
  return !isMove(op) && !isOfGradient(&op) && 4 * made <= read;
}

/// Returns the device of the table whose rows an op reads, if they are fewer bytes than the table.
std::optional<int64_t> PartPlaces::findTable(Operation &op) const {
  auto table = isa<GatherOp>(op) ? dyn_cast<BlockArgument>(op.getOperand(0)) : BlockArgument();
  auto home = table ? homes.find(table.getArgNumber()) : homes.end();
  if (home == homes.end() || getByteSize(op.getResult(0).getType()) >= getByteSize(table.getType()))
    return std::nullopt;
  return home->second;
}

void PartPlaces::placeOp(Operation &op) {
  std::optional<int64_t> group = findGroup(op);
  if (std::optional<int64_t> part = getNumber(&op, kModelPartAttr))
    return setDevice(&op, group.value_or(0) + *part);
  if (!isMemoryEffectFree(&op) || op.getNumRegions() != 0) // copies are no option
    return setDevice(&op, group.value_or(0));
  if (std::optional<int64_t> device = findTable(op))
    return setDevice(&op, *device);
  if (group)
    return placeInGroup(op, *group);
  Readers all;
  for (OpOperand &use : op.getUses())
    all.add(findReaders(use));
  if (!all.isOne() && isSummary(op))
    return setDevice(&op, turn++ % mesh.countDevices());
  readers[&op] = all;
  if (all.isOne() && !isMove(op))
    devices[&op] = all.first;
}

void PartPlaces::placeInGroup(Operation &op, int64_t group) {
  Readers inside, own;
  std::optional<int64_t> sender;
  SmallVector<OpOperand *> outside;
  for (OpOperand &use : op.getUses()) {
    Readers found = findReaders(use);
    if (found.last < 0)
      continue;
    if (found.first >= group && found.last < group + mesh.parts) {
      inside.add(found);
      own.add(found);
      continue;
    }
    outside.push_back(&use);
    int64_t twin = group + found.first % mesh.parts;
    sender = std::min(sender.value_or(twin), twin);
    own.add({twin, twin});
  }
  if (own.isOne() && (sender || !isMove(op)))
    return setDevice(&op, own.first);
  readers[&op] = inside;
  if (!sender)
    return;
  OpBuilder builder(op.getNextNode());
  Operation *copy = builder.clone(op);
  setDevice(copy, *sender);
  for (OpOperand *use : outside)
    use->set(copy->getResult(cast<OpResult>(use->get()).getResultNumber()));
  if (inside.isOne() && !isMove(op))
    devices[&op] = inside.first;
}

void PartPlaces::placeSlices() {
  for (auto slice : step.getBody().front().getOps<reprise::SliceOp>()) {
    auto argument = dyn_cast<BlockArgument>(slice.getOperand());
    auto home = argument ? homes.find(argument.getArgNumber()) : homes.end();
    std::optional<int64_t> device = home != homes.end() ? home->second
                                    : argument          ? std::nullopt
                                                        : get(slice.getOperand().getDefiningOp());
    Readers own = readers.lookup(slice);
    if (device && !devices.contains(slice) && (!own.isOne() || own.first != *device))
      devices[slice] = *device;
  }
}

std::optional<int64_t> PartPlaces::get(Operation *op) const {
  auto found = devices.find(op);
  return found == devices.end() ? std::nullopt : std::optional(found->second);
}
