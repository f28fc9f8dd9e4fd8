// reprise: which launch runs each op; asked before launches are formed
#include "reprise/Dialect/Exec/Transforms/Launches.h"

#include "Grouping.h"
#include "mlir/IR/OwningOpRef.h"
#include "reprise/Conversion/Target.h"

using namespace mlir;
using namespace reprise::exec;

LaunchNumbers reprise::exec::numberLaunches(func::FuncOp function, const Target &target) {
  // Updates move before groups are formed.
  OwningOpRef<func::FuncOp> copy = function.clone();
  Block &block = copy->getBody().front();
  DenseMap<Operation *, Operation *> originals;
  for (auto [own, original] : llvm::zip(block, function.getBody().front()))
    originals[&own] = &original;
  hoistUpdates(block);
  LaunchNumbers numbers;
  Grouping grouping(block, target);
  for (const Group &group : grouping.groups()) {
    if (group.ops.empty())
      continue;
    for (Operation *op : group.ops)
      numbers.of[originals.lookup(op)] = numbers.count;
    ++numbers.count;
  }
  return numbers;
}
