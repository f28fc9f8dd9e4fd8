// reprise: pads that their readers compute
#include "reprise/Dialect/Reprise/IR/Choice.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Interfaces/Kinds.h"

using namespace mlir;

bool reprise::isExposure(OpOperand &use) {
  auto entry = use.getOwner()->getParentOfType<FunctionOpInterface>();
  return isa<func::ReturnOp, ReturnOp>(use.getOwner()) &&
         EntrySignature(entry).getCheck(use.getOperandNumber());
}

bool reprise::isChoice(Operation *op) {
  return isa<PadOp>(op) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
           return isExposure(use) ||
                  (isElementwise(use.getOwner()) && use.getOwner()->getBlock() == op->getBlock());
         });
}
