// reprise: ops of a step that read values of several replicas
#include "JointOps.h"

#include "RowSplitter.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

static bool isOfMicrobatch(Operation *op) { return op->hasAttr(kMicrobatchAttr); }

JointOps::JointOps(ProgramOp step, int64_t replicas, const DenseSet<Value> &owned)
    : step(step), covers(step, replicas, isOfMicrobatch) {
  findJoint();
  findClosing(owned);
}

void JointOps::findJoint() {
  for (Operation &op : step.getBody().front().without_terminator()) {
    std::optional<Cover> cover = covers.find(&op);
    bool readsJoint = llvm::any_of(
        op.getOperands(), [&](Value operand) { return contains(operand.getDefiningOp()); });
    if (cover && (readsJoint || !isOfMicrobatch(&op) || cover->size() > 1))
      joint.insert(&op);
  }
}

/// Adds the ops on rows of owned arrays that only joint ops read, such as the decay of a momentum.
void JointOps::findClosing(const DenseSet<Value> &owned) {
  DenseSet<Operation *> ofOwned;
  for (Operation &op : step.getBody().front().without_terminator())
    if (!covers.find(&op) && isRowwise(&op) && llvm::any_of(op.getOperands(), [&](Value operand) {
          return owned.contains(operand) || ofOwned.contains(operand.getDefiningOp());
        }))
      ofOwned.insert(&op);
  for (Operation &op : llvm::reverse(step.getBody().front().without_terminator()))
    if (ofOwned.contains(&op) && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return contains(user) || user->hasTrait<OpTrait::IsTerminator>();
        }))
      joint.insert(&op);
}

int64_t JointOps::pick(Operation *op, int64_t owner) const {
  std::optional<Cover> cover = covers.find(op);
  return cover ? cover->pick(owner) : owner;
}

std::optional<int64_t> JointOps::findReplica(Operation *op) const {
  std::optional<Cover> cover = covers.find(op);
  return !cover || contains(op) ? std::nullopt : std::optional(cover->first);
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
