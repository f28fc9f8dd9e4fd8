// reprise: another order of the ops of a device program
#include "reprise/Dialect/Reprise/Transforms/ProgramOrder.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reprise/Dialect/Reprise/Transforms/PlanningScopes.h"

using namespace mlir;
using namespace reprise;

static std::vector<Operation *> listOps(ProgramOp program) {
  std::vector<Operation *> ops;
  for (Operation &op : program.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

bool reprise::isPossible(ProgramOp program, ArrayRef<int32_t> order) {
  std::vector<Operation *> ops = listOps(program);
  if (order.size() != ops.size() || !llvm::all_of(ops, isMemoryEffectFree))
    return false;
  Block &block = program.getBody().front();
  DenseSet<Operation *> done;
  for (int number : order) {
    if (number < 0 || static_cast<size_t>(number) >= ops.size() || done.contains(ops[number]))
      return false;
    bool isReady = true;
    ops[number]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == &block)
          isReady &= done.contains(maker);
    });
    if (!isReady)
      return false;
    done.insert(ops[number]);
  }
  return true;
}

void reprise::applyOrder(ProgramOp program, ArrayRef<int32_t> order) {
  std::vector<Operation *> ops = listOps(program);
  for (int number : order)
    ops[number]->moveBefore(program.getBody().front().getTerminator());
  if (!order.empty())
    program->setDiscardableAttr(kOneScopeAttr, UnitAttr::get(program.getContext()));
}
