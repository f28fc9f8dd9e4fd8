// reprise: waits in front of backward passes, and launches that need not wait
#include "reprise/Dialect/Exec/IR/BackwardWaits.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace reprise::exec {

void markBackwardPass(WaitOp wait, int64_t stage, int64_t microbatch) {
  wait->setDiscardableAttr(kBackwardPassAttr,
                           DenseI64ArrayAttr::get(wait.getContext(), {stage, microbatch}));
}

/// Returns true for an op that stands beside the launches, such as a view.
static bool isBeside(Operation *op) {
  return !isa<LaunchOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

static bool isReturned(Operation *op) {
  return llvm::any_of(op->getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

/// Returns the first op behind the waits that follow `wait`. Adds the values that arrive to `late`.
static Operation *passWaits(WaitOp wait, DenseSet<Value> &late) {
  Operation *at = wait;
  for (; auto each = dyn_cast_or_null<WaitOp>(at); at = at->getNextNode())
    for (Value value : each.getEvent().getDefiningOp()->getResults())
      late.insert(value);
  return at;
}

static void findEarly(BackwardWait &found) {
  DenseSet<Value> late;
  for (Operation *op = passWaits(found.first, late); op; op = op->getNextNode()) {
    bool isEarly = llvm::none_of(op->getOperands(), [&](Value v) { return late.contains(v); });
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch && !isBeside(op))
      return;
    if (launch && isEarly && !isReturned(op))
      found.early.push_back(launch);
    else if (launch || !isEarly)
      late.insert(op->result_begin(), op->result_end());
  }
}

std::vector<BackwardWait> findBackwardWaits(ProgramOp program) {
  std::vector<BackwardWait> found;
  for (WaitOp wait : program.getBody().front().getOps<WaitOp>())
    if (auto pass = wait->getAttrOfType<DenseI64ArrayAttr>(kBackwardPassAttr)) {
      findEarly(found.emplace_back(BackwardWait{wait, pass[0], pass[1], {}}));
    }
  return found;
}

/// Moves an op in front of the wait, behind the ops beside launches that it reads.
static void move(Operation *op, Operation *wait) {
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp();
        maker && isBeside(maker) && wait->isBeforeInBlock(maker))
      move(maker, wait);
  op->moveBefore(wait);
}

void moveEarly(const BackwardWait &wait, size_t count) {
  for (LaunchOp launch : ArrayRef(wait.early).take_front(count))
    move(launch, wait.first);
}

} // namespace reprise::exec
