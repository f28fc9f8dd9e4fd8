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

} // namespace reprise
