// reprise: the replicas that run the ops of a step and own its arrays
#include "ReplicaPlaces.h"

#include "Places.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

ReplicaPlaces::ReplicaPlaces(ProgramOp step, int64_t replicas, int64_t leastBytes)
    : step(step), signature(step), replicas(replicas), leastBytes(leastBytes),
      owned(findOwned(step)), joint(step, replicas, owned) {
  connectRows(step, [&](Value value) { return isConnecting(value); }, connected);
  look();
  assignOwners();
  cutInputs();
}

bool ReplicaPlaces::isConnecting(Value value) const {
  if (!hasRows(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isOwned(argument);
  return joint.contains(value.getDefiningOp()) && isRowwise(value.getDefiningOp());
}

const ReplicaPlaces::Group *ReplicaPlaces::find(Value value) const {
  if (!isConnecting(value))
    return nullptr;
  auto found = groups.find(connected.getLeaderValue(value.getAsOpaquePointer()));
  return found == groups.end() ? nullptr : &found->second;
}

ReplicaPlaces::Group *ReplicaPlaces::find(Value value) {
  return const_cast<Group *>(std::as_const(*this).find(value));
}

void ReplicaPlaces::look() {
  auto add = [&](Value value) -> Group * {
    if (!isConnecting(value))
      return nullptr;
    Group &group = groups[connected.getLeaderValue(value.getAsOpaquePointer())];
    group.largest = std::max(group.largest, getByteSize(value.getType()));
    return &group;
  };
  for (BlockArgument argument : step.getArguments())
    if (Group *group = add(argument)) {
      group->isNamed = true;
      group->bytes += getByteSize(argument.getType());
      group->isWhole |= signature.getBatchDim(argument.getArgNumber()).has_value();
    }
  for (Operation &op : step.getBody().front().without_terminator())
    if (op.getNumResults() == 1)
      add(op.getResult(0));
  Operation *ends = step.getBody().front().getTerminator();
  for (auto [value, replaced] : llvm::zip(ends->getOperands(), signature.getReplacedArguments())) {
    if (Group *group = find(value))
      group->isNamed = true;
    else if (Group *old = replaced >= 0 ? find(step.getArgument(replaced)) : nullptr)
      old->isWhole = true; // its next value is computed in one piece
  }
}

/// Gives each group that is not cut to the replica with the fewest bytes so far.
void ReplicaPlaces::assignOwners() {
  SmallVector<int64_t> bytes(replicas, 0);
  DenseSet<Group *> done;
  for (BlockArgument argument : step.getArguments())
    if (Group *group = find(argument);
        group && !isCut(*group, argument) && done.insert(group).second) {
      group->owner = llvm::min_element(bytes) - bytes.begin();
      bytes[group->owner] += group->bytes;
    }
}

bool ReplicaPlaces::isCut(const Group &group, Value value) const {
  return group.isNamed && !group.isWhole && group.largest / replicas >= leastBytes &&
         countRows(value) >= replicas;
}

/// Cuts inputs that replicas read by disjoint rows, one after the other.
void ReplicaPlaces::cutInputs() {
  for (BlockArgument argument : step.getArguments()) {
    if (isOwned(argument) || !hasRows(argument.getType()) ||
        signature.getBatchDim(argument.getArgNumber()) != 0)
      continue;
    SmallVector<RowRange> ranges(replicas, {INT64_MAX, 0});
    bool isCut = llvm::all_of(argument.getUsers(), [&](Operation *user) {
      auto slice = dyn_cast<reprise::SliceOp>(user);
      std::optional<int64_t> reader = slice ? joint.findReader(slice) : std::nullopt;
      if (!reader)
        return false;
      RowRange &own = ranges[*reader];
      own = {std::min(own.first, slice.getStarts().front()),
             std::max(own.end, slice.getLimits().front())};
      return true;
    });
    int64_t end = 0;
    for (RowRange range : ranges)
      isCut &= std::exchange(end, range.end) == range.first && range.size() > 0;
    if (isCut && end == countRows(argument))
      inputs[argument] = ranges;
  }
}

bool ReplicaPlaces::contains(Value value) const {
  if (inputs.contains(value))
    return true;
  const Group *group = find(value);
  return group && isCut(*group, value);
}

SmallVector<RowRange> ReplicaPlaces::getParts(Value value) const {
  if (auto found = inputs.find(value); found != inputs.end())
    return found->second;
  int64_t rows = countRows(value);
  return llvm::map_to_vector(llvm::seq<int64_t>(0, replicas), [&](int64_t part) {
    return RowRange{part * rows / replicas, (part + 1) * rows / replicas};
  });
}

/// Returns the replica that owns a part: the number of the part with its bits reversed. In a tree
/// of sums, the parts for which a replica works are then neighbours at each level, and are one
/// value.
int64_t ReplicaPlaces::getOwner(int64_t part) const {
  if (!llvm::isPowerOf2_64(replicas))
    return part;
  return static_cast<int64_t>(llvm::reverseBits(static_cast<uint64_t>(part)) >>
                              llvm::countl_zero(static_cast<uint64_t>(replicas)) >> 1);
}

SmallVector<int64_t> ReplicaPlaces::getRuns(Operation *op) const {
  SmallVector<int64_t> runs;
  for (int64_t part = 0; part < replicas; ++part)
    if (part == 0 || pick(op, part) != pick(op, part - 1))
      runs.push_back(part);
  return runs;
}

/// Returns the replica for which an op that is not cut works: the owner of its group, or of the
/// first array that it reads.
int64_t ReplicaPlaces::findOwner(Operation *op) const {
  for (Value value : llvm::concat<Value>(llvm::to_vector_of<Value>(op->getResults()),
                                         llvm::to_vector_of<Value>(op->getOperands())))
    if (const Group *group = find(value); group && !isCut(*group, value))
      return group->owner;
  return 0;
}

static void setReplica(Operation *op, int64_t replica) {
  op->setAttr(kReplicaAttr, Builder(op->getContext()).getI64IntegerAttr(replica));
}

void ReplicaPlaces::mark() {
  Builder builder(step.getContext());
  for (BlockArgument argument : step.getArguments()) {
    const Group *group = find(argument);
    if (isOwned(argument) && !contains(argument))
      step.setArgAttr(argument.getArgNumber(), kReplicaAttr,
                      builder.getI64IntegerAttr(group ? group->owner : 0));
  }
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (joint.contains(&op)) {
      op.removeDiscardableAttr(kMicrobatchAttr);
      setReplica(&op, joint.pick(&op, findOwner(&op)));
    } else if (joint.isBefore(&op)) {
      setReplica(&op, findOwner(&op));
    }
  }
}

void ReplicaPlaces::describeArgument(Value argument, int64_t part,
                                     NamedAttrList &attributes) const {
  if (inputs.contains(argument))
    return; // a device has the rows that it reads
  attributes.set(kReplicaAttr, Builder(argument.getContext()).getI64IntegerAttr(getOwner(part)));
}

void ReplicaPlaces::markCopy(Operation *copy, Operation *op, int64_t part) const {
  setReplica(copy, pick(op, part));
}

bool ReplicaPlaces::reduces(Operation *op) const { return joint.contains(op); }

void ReplicaPlaces::markReduction(Operation *made, Operation *op, int64_t part) const {
  copyMarks(made, op);
  setReplica(made, pick(op, part));
}

/// A slice stands on the replica that computes its operand, so that only the part is sent. It
/// stands behind all passes, so that few slices live beside the sums.
void ReplicaPlaces::markSlice(Operation *slice, Value value, Operation *reader,
                              int64_t part) const {
  Operation *maker = value.getDefiningOp(), *place = maker ? maker : reader;
  copyMarks(slice, place);
  slice->removeDiscardableAttr(kMicrobatchAttr);
  if (contains(value))
    setReplica(slice, pick(maker, part));
  else if (std::optional<int64_t> replica = maker ? joint.findReplica(maker) : std::nullopt)
    setReplica(slice, *replica);
  else if (Attribute mark = place->getDiscardableAttr(kReplicaAttr))
    slice->setDiscardableAttr(kReplicaAttr, mark);
}

void ReplicaPlaces::markJoin(Operation *join, Value value, Operation *reader) const {
  if (isa<BlockArgument>(value))
    return; // a gather belongs to no device
  copyMarks(join, reader);
  if (Attribute replica = reader->getDiscardableAttr(kReplicaAttr))
    join->setDiscardableAttr(kReplicaAttr, replica);
}
