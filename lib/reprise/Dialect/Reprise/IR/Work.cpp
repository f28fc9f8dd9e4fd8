// reprise: the work of an op, independent of its place: its kind, type and signature.
#include "reprise/Dialect/Reprise/IR/Work.h"

#include "reprise/Interfaces/Interfaces.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace reprise {

StringRef getKindName(Operation *op) {
  return isa<AttentionOpInterface>(op)       ? "attention"
         : isa<ContractionOpInterface>(op)   ? "contraction"
         : isa<ConvolutionOpInterface>(op)   ? "convolution"
         : isa<NormalizationOpInterface>(op) ? "normalization"
         : isa<ReductionOpInterface>(op)     ? "reduction"
         : isa<PoolOpInterface>(op)          ? "pool"
         : isa<IndexingOpInterface>(op)      ? "indexing"
         : isa<RandomOpInterface>(op)        ? "random"
         : isa<ViewOpInterface>(op)          ? "view"
         : isa<ElementwiseOpInterface>(op)   ? "elementwise"
                                             : "other";
}

bool isContractionKind(StringRef kind) {
  return kind == "attention" || kind == "contraction" || kind == "convolution";
}

std::string getElementTypeName(Operation *op) {
  Type type = op->getNumOperands()  ? op->getOperand(0).getType()
              : op->getNumResults() ? op->getResult(0).getType()
                                    : Type();
  if (!type)
    return "";
  // We test common types first, because printing a type asks all dialects.
  type = getElementTypeOrSelf(type);
  if (type.isF32())
    return "f32";
  std::string name;
  llvm::raw_string_ostream stream(name);
  type.print(stream);
  return name;
}

uint64_t getSignature(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName() << op->getOperandTypes() << op->getResultTypes();
  for (StringAttr name : op->getName().getAttributeNames())
    if (name != "stream" && name != "replay")
      stream << name << op->getInherentAttr(name).value_or(Attribute());
  return llvm::xxh3_64bits(text);
}

} // namespace reprise
