// reprise: ops of a step that read values of several replicas
#include "JointOps.h"

#include "Order.h"
#include "RowSplitter.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

JointOps::JointOps(ProgramOp step, int64_t replicas, const DenseSet<Value> &owned)
    : step(step), replicas(replicas), microbatches(countMicrobatches(step)) {
  findJoint();
  findClosing(owned);
}

void JointOps::findJoint() {
  for (Operation &op : step.getBody().front().without_terminator()) {
    std::optional<Cover> cover = findCover(op);
    std::optional<int64_t> microbatch = getNumber(&op, kMicrobatchAttr);
    bool readsJoint = llvm::any_of(
        op.getOperands(), [&](Value operand) { return contains(operand.getDefiningOp()); });
    if (microbatch) {
      int64_t own = *microbatch * replicas / microbatches;
      Cover passes{own, own + 1};
      cover = cover ? cover->join(passes) : passes;
    }
    if (!cover)
      continue;
    covers.try_emplace(&op, *cover);
    if (readsJoint || !microbatch || cover->end - cover->first > 1)
      joint.insert(&op);
  }
}

/// Adds the ops on rows of owned arrays that only joint ops read, such as the decay of a momentum.
void JointOps::findClosing(const DenseSet<Value> &owned) {
  DenseSet<Operation *> ofOwned;
  for (Operation &op : step.getBody().front().without_terminator())
    if (!covers.contains(&op) && isRowwise(&op) &&
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return owned.contains(operand) || ofOwned.contains(operand.getDefiningOp());
        }))
      ofOwned.insert(&op);
  for (Operation &op : llvm::reverse(step.getBody().front().without_terminator()))
    if (ofOwned.contains(&op) && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return contains(user) || user->hasTrait<OpTrait::IsTerminator>();
        }))
      joint.insert(&op);
}

/// Returns the replicas of what an op reads; none if it reads no value of a pass.
std::optional<JointOps::Cover> JointOps::findCover(Operation &op) const {
  llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
  getUsedValuesDefinedAbove(op.getRegions(), read);
  std::optional<Cover> cover;
  for (Value value : read)
    if (auto found = covers.find(value.getDefiningOp()); found != covers.end())
      cover = cover ? cover->join(found->second) : found->second;
  return cover;
}

int64_t JointOps::pick(Operation *op, int64_t owner) const {
  auto cover = covers.find(op);
  return cover == covers.end() ? owner : cover->second.pick(owner);
}

std::optional<int64_t> JointOps::findReplica(Operation *op) const {
  auto cover = covers.find(op);
  return cover == covers.end() || contains(op) ? std::nullopt : std::optional(cover->second.first);
}

std::optional<int64_t> JointOps::findReader(Operation *op) const {
  std::optional<int64_t> only;
  for (Operation *user : op->getUsers()) {
    std::optional<int64_t> reader = findReplica(user);
    if (!reader || (only && only != reader))
      return std::nullopt;
    only = reader;
  }
  return only;
}
