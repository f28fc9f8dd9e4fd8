// reprise: ops that are copied into the launches that read them
#include "reprise/Dialect/Exec/IR/FreeOps.h"

#include "reprise/Dialect/Reprise/IR/Reprise.h"

using namespace mlir;

namespace reprise::exec {

/// Returns true if an op reads its positions in a result of `op`. Such a result stays in a buffer,
/// because `--check-indices` reads positions there.
static bool givesPositions(Operation *op) {
  // Splats of floats have thousands of uses in a large graph.
  if (!cast<RankedTensorType>(op->getResult(0).getType()).getElementType().isInteger())
    return false;
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto reader = dyn_cast<IndexingOpInterface>(use.getOwner());
    return reader && reader.getPositions() == use.get();
  });
}

bool isFree(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  bool isSplat = constant && isa<SplatElementsAttr>(constant.getValue());
  return (isSplat || isa<ViewOpInterface, IotaOp>(op) || isChoice(op)) && !givesPositions(op);
}

} // namespace reprise::exec
