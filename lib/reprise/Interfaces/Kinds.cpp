// reprise: kinds of ops that several interfaces define together
#include "reprise/Interfaces/Kinds.h"

#include "reprise/Interfaces/Interfaces.h"

using namespace mlir;

namespace reprise {

bool isElementwise(Operation *op) {
  if (isa<AttentionOpInterface, ContractionOpInterface, ConvolutionOpInterface>(op))
    return false;
  return isa<ElementwiseOpInterface, RandomOpInterface>(op);
}

bool takesFromRegisters(Operation *op) {
  return isElementwise(op) || isa<ReductionOpInterface, NormalizationOpInterface>(op);
}

bool overwritesOperand(Operation *op) {
  if (auto alone = dyn_cast<AloneOpInterface>(op))
    return alone.overwritesFirstOperand();
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  return contraction && contraction.continuesSums();
}

} // namespace reprise
