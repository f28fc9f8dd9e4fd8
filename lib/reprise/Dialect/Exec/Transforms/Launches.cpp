// reprise: the launch of each op, before launches are formed
#include "reprise/Dialect/Exec/Transforms/Launches.h"

#include "Grouping.h"
#include "HostMoves.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Target/Target.h"

using namespace mlir;
using namespace reprise::exec;

LaunchNumbers reprise::exec::numberLaunches(ProgramOp function, const Target &target) {
  // Updates move before groups are formed.
  OwningOpRef<ProgramOp> copy = function.clone();
  Block &block = copy->getBody().front();
  DenseMap<Operation *, Operation *> originals;
  for (auto [own, original] : llvm::zip(block, function.getBody().front()))
    originals[&own] = &original;
  keepOnDevice(*copy);
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
  int next = numbers.count;
  function.walk([&](LoopOp loop) {
    Grouping inner(loop.getBlock(), target);
    int first = next;
    for (const Group &group : inner.groups()) {
      for (Operation *op : group.ops)
        numbers.of[op] = next;
      next += !group.ops.empty();
    }
    numbers.inBody[loop] = next - first;
  });
  return numbers;
}

/// Numbers the values of the function, so that launches record their stored values, and loops their
/// originals.
FormedLaunches reprise::exec::formLaunches(ProgramOp function, const LaunchNumbers &numbers,
                                           const Target &target) {
  FormedLaunches formed;
  formed.function = function.clone();
  Block &block = formed.function->getBody().front();
  OpBuilder builder(function.getContext());
  std::vector<Operation *> makers; // op per value
  for (auto [own, original] : llvm::zip(block, function.getBody().front())) {
    own.setAttr(kReportedAttr, builder.getI64IntegerAttr(makers.size()));
    makers.resize(makers.size() + own.getNumResults(), &original);
  }
  formLaunches(*formed.function, target);
  auto findMaker = [&](Operation *op) -> Operation * {
    if (auto stored = op->getAttrOfType<DenseI64ArrayAttr>(kReportedAttr))
      return makers[stored[0]];
    auto first = op->getAttrOfType<IntegerAttr>(kReportedAttr);
    return first && op->getNumResults() > 0 ? makers[first.getInt()] : nullptr;
  };
  for (LaunchOp launch : Positions(block).launches) {
    Operation *maker = findMaker(block.findAncestorOpInBlock(*launch));
    formed.launches.push_back({launch, maker ? numbers.of.lookup_or(maker, -1) : -1});
  }
  for (LoopOp loop : block.getOps<LoopOp>())
    if (Operation *maker = findMaker(loop))
      formed.loops[maker] = loop;
  return formed;
}
