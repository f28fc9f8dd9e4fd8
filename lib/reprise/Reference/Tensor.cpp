// reprise: storage of the interpreter's tensors.
#include "reprise/Reference/Tensor.h"

#include "reprise/Runtime/Npy.h"

using namespace mlir;

namespace reprise {

int64_t elementBytes(Type elementType) {
  return std::max<int64_t>(1, elementType.getIntOrFloatBitWidth() / 8);
}

Tensor::Tensor(RankedTensorType type)
    : type(type), bytes(type.getNumElements() * elementBytes(type.getElementType())) {}

runtime::DType dtypeOf(Type elementType) {
  if (elementType.isF64())
    return runtime::DType::F64;
  if (elementType.isBF16())
    return runtime::DType::BF16;
  if (elementType.isF16())
    return runtime::DType::F16;
  if (elementType.isInteger(32))
    return runtime::DType::I32;
  if (elementType.isInteger(64))
    return runtime::DType::I64;
  return elementType.isInteger(1) ? runtime::DType::I1 : runtime::DType::F32;
}

void canonicalizeNaNs(Tensor &tensor) {
  runtime::canonicalizeNaNs(dtypeOf(tensor.type.getElementType()), tensor.bytes.data(),
                            tensor.size());
}

} // namespace reprise
