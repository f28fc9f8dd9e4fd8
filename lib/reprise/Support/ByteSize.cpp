// reprise: the bytes of a tensor in memory
#include "reprise/Support/ByteSize.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

int64_t reprise::getByteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bits = tensor.getElementType().getIntOrFloatBitWidth();
  return tensor.getNumElements() * static_cast<int64_t>(llvm::divideCeil(bits, 8));
}
