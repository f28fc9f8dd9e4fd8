// reprise: purposes of transfers between devices, for reports
#include "reprise/Dialect/Reprise/IR/Transfers.h"

using namespace mlir;

namespace reprise {

DictionaryAttr TransferPurpose::write(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList list;
  list.set("kind", builder.getStringAttr(kind));
  list.set("value", builder.getStringAttr(value));
  if (dim)
    list.set("dim", builder.getI64IntegerAttr(*dim));
  if (!part.empty())
    list.set("part", builder.getStringAttr(part));
  return list.getDictionary(context);
}

TransferPurpose TransferPurpose::read(DictionaryAttr attribute) {
  TransferPurpose purpose;
  purpose.kind = attribute.getAs<StringAttr>("kind").getValue();
  purpose.value = attribute.getAs<StringAttr>("value").str();
  if (auto dim = attribute.getAs<IntegerAttr>("dim"))
    purpose.dim = dim.getInt();
  if (auto part = attribute.getAs<StringAttr>("part"))
    purpose.part = part.getValue();
  return purpose;
}

bool TransferPurpose::isValid(Attribute attribute) {
  auto given = dyn_cast<DictionaryAttr>(attribute);
  auto kind = given ? given.getAs<StringAttr>("kind") : StringAttr();
  return kind && llvm::is_contained({kGather, kSum, kExchange, kSend}, kind.getValue()) &&
         given.getAs<StringAttr>("value") && read(given).write(given.getContext()) == given;
}

} // namespace reprise
