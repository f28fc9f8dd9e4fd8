// reprise: another order of the ops of a step
#include "StepOrder.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/StableSort.h"

#include <numeric>

using namespace mlir;
using namespace reprise;

static std::vector<Operation *> listOps(ProgramOp step) {
  std::vector<Operation *> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

bool reprise::keepsOrder(ProgramOp step) {
  return llvm::any_of(step.getBody().front(),
                      [](Operation &op) { return isa<LoopOp>(op) || exec::isExplicit(&op); });
}

OpOrder reprise::findOpOrder(ProgramOp step, const exec::LaunchNumbers &numbers,
                             const checkpoint::LaunchOrder &launches) {
  std::vector<int> places(launches.size());
  for (auto [place, launch] : llvm::enumerate(launches))
    places[launch] = static_cast<int>(place);
  std::vector<Operation *> ops = listOps(step);
  Block &block = step.getBody().front();
  DenseMap<Operation *, int> placeOf;
  // We walk from the end, because an op without a launch takes its place from its readers.
  for (Operation *op : llvm::reverse(ops)) {
    int launch = numbers.of.lookup_or(op, -1);
    int place = launch >= 0 ? places[launch] : static_cast<int>(launches.size());
    if (launch < 0)
      for (Operation *user : op->getUsers())
        place = std::min(place, placeOf.lookup_or(block.findAncestorOpInBlock(*user), place));
    placeOf[op] = place;
  }
  OpOrder order(ops.size());
  std::iota(order.begin(), order.end(), 0);
  sortStably(order, [&](int a, int b) { return placeOf[ops[a]] < placeOf[ops[b]]; });
  return order;
}
