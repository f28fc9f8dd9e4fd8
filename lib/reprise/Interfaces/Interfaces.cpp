// reprise: definitions of the op interfaces.
#include "reprise/Interfaces/Interfaces.h"

using namespace mlir;

#include "reprise/Interfaces/CostInterface.cpp.inc"
#include "reprise/Interfaces/DifferentiableInterface.cpp.inc"
#include "reprise/Interfaces/EmissionInterface.cpp.inc"
#include "reprise/Interfaces/KindInterfaces.cpp.inc"
#include "reprise/Interfaces/RandomInterface.cpp.inc"

namespace reprise {

static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
    strides[d] = stride;
  return strides;
}

StridedView StridedView::of(ShapedType type) {
  return {0, llvm::to_vector(type.getShape()), rowMajorStrides(type.getShape())};
}

bool StridedView::isIdentity() const { return offset == 0 && strides == rowMajorStrides(sizes); }

int64_t countResultElements(Operation *op) {
  int64_t count = 0;
  for (Type type : op->getResultTypes())
    if (auto shaped = dyn_cast<ShapedType>(type))
      count += shaped.getNumElements();
  return count;
}

} // namespace reprise
