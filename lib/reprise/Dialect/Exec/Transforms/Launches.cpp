// reprise: which launch runs each op; asked before launches are formed
#include "reprise/Dialect/Exec/Transforms/Launches.h"

#include "Grouping.h"
#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Exec/IR/Storage.h"

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

/// The values of the function have numbers, by which launches tell what they store.
FormedLaunches reprise::exec::formLaunches(func::FuncOp function, const LaunchNumbers &numbers,
                                           const Target &target) {
  FormedLaunches formed{function.clone(), {}};
  Block &block = formed.function->getBody().front();
  OpBuilder builder(function.getContext());
  std::vector<int> launchOf; // per value
  for (auto [own, original] : llvm::zip(block, function.getBody().front())) {
    own.setAttr(kReportedAttr, builder.getI64IntegerAttr(launchOf.size()));
    launchOf.resize(launchOf.size() + own.getNumResults(), numbers.of.lookup_or(&original, -1));
  }
  formLaunches(*formed.function, target);
  for (LaunchOp launch : Positions(block).launches) {
    Operation *outermost = block.findAncestorOpInBlock(*launch);
    int64_t value = -1;
    if (auto stored = outermost->getAttrOfType<DenseI64ArrayAttr>(kReportedAttr))
      value = stored[0];
    else if (auto first = outermost->getAttrOfType<IntegerAttr>(kReportedAttr))
      value = first.getInt();
    formed.launches.push_back({launch, value < 0 ? -1 : launchOf[value]});
  }
  return formed;
}
