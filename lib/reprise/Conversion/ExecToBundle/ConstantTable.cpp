// reprise: the constants of a bundle
#include "ConstantTable.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "reprise/Reference/Tensor.h"
#include "reprise/Runtime/Bundle.h"

using namespace mlir;

namespace reprise {

uint64_t ConstantTable::offsetOf(Attribute value) {
  auto [found, isNew] = offsets.try_emplace(value, 0);
  if (isNew) {
    bytes.resize(llvm::alignTo(bytes.size(), runtime::bufferAlignment));
    found->second = bytes.size();
    append(value);
  }
  return found->second;
}

void ConstantTable::append(Attribute attribute) {
  // A resource holds the bytes of memory already, as the op's verifier has checked.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    llvm::append_range(bytes, resource.getRawHandle().getBlob()->getData());
    return;
  }
  auto value = cast<DenseElementsAttr>(attribute);
  unsigned width = elementBytes(value.getElementType());
  auto appendBits = [&](const APInt &bits) {
    for (unsigned byte = 0; byte < width; ++byte)
      bytes.push_back(
          bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth() - 8 * byte), 8 * byte));
  };
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &element : value.getValues<APFloat>())
      appendBits(element.bitcastToAPInt());
  else
    for (const APInt &element : value.getValues<APInt>())
      appendBits(element);
}

} // namespace reprise
