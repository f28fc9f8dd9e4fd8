// reprise: storage of the interpreter's tensors.
#include "reprise/Reference/Tensor.h"

using namespace mlir;

namespace reprise {

int64_t elementBytes(Type elementType) { return std::max<int64_t>(1, elementType.getIntOrFloatBitWidth() / 8); }

Tensor::Tensor(RankedTensorType type)
    : type(type), bytes(type.getNumElements() * elementBytes(type.getElementType())) {}

} // namespace reprise
