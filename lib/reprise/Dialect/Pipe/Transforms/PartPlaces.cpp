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

/// Returns false for an op that moves to its readers from everywhere.
static bool isOfPass(Operation *op) {
  auto slice = dyn_cast<reprise::SliceOp>(op);
  return !isa<ConstantOp, ConcatenateOp>(op) && !(slice && isa<BlockArgument>(slice.getOperand()));
}

PartPlaces::PartPlaces(ProgramOp step, PartMesh mesh)
    : step(step), signature(step), mesh(mesh), covers(step, mesh.replicas, isOfPass),
      microbatches(countMicrobatches(step)) {
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

/// Returns the first device of the group of an op's micro-batch and stage; none without a group.
std::optional<int64_t> PartPlaces::findGroup(Operation &op) {
  std::optional<int64_t> microbatch = getNumber(&op, kMicrobatchAttr),
                         stage = getNumber(&op, kStageAttr);
  if (!isOfPass(&op) || (mesh.replicas > 1 && !microbatch) || (mesh.ranks > 1 && !stage))
    return std::nullopt;
  return mesh.findGroup(mesh.replicas > 1 ? findReplica(op, *microbatch) : 0, stage.value_or(0));
}

/// Returns the replica of an op of a micro-batch. The readers of its users are known.
int64_t PartPlaces::findReplica(Operation &op, int64_t microbatch) {
  int64_t own = microbatch * mesh.replicas / microbatches;
  std::optional<Cover> cover = covers.find(&op);
  if (!cover || cover->size() == 1)
    return own;
  Readers all;
  for (OpOperand &use : op.getUses())
    all.add(findReaders(use));
  return all.last < 0 ? own : cover->pick(all.first / (mesh.ranks * mesh.parts));
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
  bool hasGroup = mesh.replicas * mesh.ranks == 1 || group;
  if (std::optional<int64_t> part = getNumber(&op, kModelPartAttr); part && hasGroup)
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

/// Returns the device that makes a value; none for a value that several devices have.
std::optional<int64_t> PartPlaces::findMaker(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return get(value.getDefiningOp());
  auto home = homes.find(argument.getArgNumber());
  return home == homes.end() ? std::nullopt : std::optional(home->second);
}

/// Adds the devices other than the maker that read a value, apart from slices of it.
void PartPlaces::addReaders(Value value, int64_t maker, llvm::BitVector &found) {
  for (OpOperand &use : value.getUses())
    if (!isa<reprise::SliceOp>(use.getOwner()))
      if (Readers own = findReaders(use); own.last >= 0)
        found.set(static_cast<unsigned>(own.first), static_cast<unsigned>(own.last) + 1);
  found.reset(static_cast<unsigned>(maker));
}

void PartPlaces::placeSlices() {
  llvm::MapVector<Value, SmallVector<Operation *>> slices;
  for (auto slice : step.getBody().front().getOps<reprise::SliceOp>())
    slices[slice.getOperand()].push_back(slice);
  for (auto &[value, cut] : slices)
    if (std::optional<int64_t> maker = findMaker(value))
      placeSlices(value, cut, *maker);
}

/// Lets the maker of a value make its slices, unless its readers receive fewer bytes as a whole.
void PartPlaces::placeSlices(Value value, ArrayRef<Operation *> slices, int64_t maker) {
  llvm::BitVector whole(static_cast<unsigned>(mesh.countDevices()));
  addReaders(value, maker, whole);
  llvm::BitVector cutters = whole;
  int64_t sent = 0;
  for (Operation *slice : slices) {
    llvm::BitVector own(whole.size());
    addReaders(slice->getResult(0), maker, own);
    sent += own.count() * getByteSize(slice->getResult(0).getType());
    cutters |= own;
  }
  if (sent > (cutters.count() - whole.count()) * getByteSize(value.getType()))
    return;
  for (Operation *slice : slices) {
    Readers own = readers.lookup(slice);
    if (!devices.contains(slice) && (!own.isOne() || own.first != maker))
      devices[slice] = maker;
  }
}

std::optional<int64_t> PartPlaces::get(Operation *op) const {
  auto found = devices.find(op);
  return found == devices.end() ? std::nullopt : std::optional(found->second);
}
