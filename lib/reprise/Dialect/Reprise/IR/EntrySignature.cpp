// reprise: the meaning of the arguments and results of an entry function.
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace reprise {

StringAttr EntrySignature::getArgumentName(unsigned argument) const {
  return entry.getArgAttrOfType<StringAttr>(argument, kName);
}

StringRef EntrySignature::getRole(unsigned argument) const {
  auto role = entry.getArgAttrOfType<StringAttr>(argument, kRole);
  return role ? role.getValue() : StringRef();
}

Attribute EntrySignature::getInit(unsigned argument) const {
  return entry.getArgAttr(argument, kInit);
}

std::optional<int64_t> EntrySignature::getBatchDim(unsigned argument) const {
  auto dim = entry.getArgAttrOfType<IntegerAttr>(argument, kBatchDim);
  return dim ? std::optional(dim.getInt()) : std::nullopt;
}

StringAttr EntrySignature::getResultName(unsigned result) const {
  return entry.getResultAttrOfType<StringAttr>(result, kName);
}

int64_t EntrySignature::getArgumentPosition(unsigned argument) const {
  auto position = entry.getArgAttrOfType<IntegerAttr>(argument, kPosition);
  return position ? position.getInt() : 0;
}

int64_t EntrySignature::getResultPosition(unsigned result) const {
  auto position = entry.getResultAttrOfType<IntegerAttr>(result, kPosition);
  return position ? position.getInt() : 0;
}

static std::optional<EntrySignature::Rows> readRows(StringAttr whole, DenseI64ArrayAttr rows) {
  if (!whole || !rows || (rows.size() != 3 && rows.size() != 4))
    return std::nullopt;
  return EntrySignature::Rows{whole, rows[0], rows[1], rows[2], rows.size() == 4 ? rows[3] : 0};
}

DictionaryAttr EntrySignature::Rows::describe(DictionaryAttr array,
                                              const DenseSet<StringAttr> &names) const {
  NamedAttrList attributes(array);
  MLIRContext *context = array.getContext();
  std::string name = (whole.getValue() + "[").str();
  for (int64_t i = 0; i < dim; ++i)
    name += ":,";
  name += std::to_string(first);
  name += last - first == 1 ? "]" : ":" + std::to_string(last) + "]";
  while (names.contains(StringAttr::get(context, name)))
    name += "'";
  attributes.set(kName, StringAttr::get(context, name));
  attributes.set(kWhole, whole);
  SmallVector<int64_t> rows{first, last, of};
  if (dim != 0)
    rows.push_back(dim);
  attributes.set(kRows, DenseI64ArrayAttr::get(context, rows));
  return attributes.getDictionary(context);
}

DenseSet<StringAttr> EntrySignature::getNames() const {
  DenseSet<StringAttr> names;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    names.insert(getArgumentName(i));
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    names.insert(getResultName(i));
  return names;
}

std::optional<EntrySignature::Rows> EntrySignature::getArgumentRows(unsigned argument) const {
  return readRows(entry.getArgAttrOfType<StringAttr>(argument, kWhole),
                  entry.getArgAttrOfType<DenseI64ArrayAttr>(argument, kRows));
}

std::optional<EntrySignature::Rows> EntrySignature::getResultRows(unsigned result) const {
  return readRows(entry.getResultAttrOfType<StringAttr>(result, kWhole),
                  entry.getResultAttrOfType<DenseI64ArrayAttr>(result, kRows));
}

StringAttr EntrySignature::getCheck(unsigned result) const {
  return entry.getResultAttrOfType<StringAttr>(result, kCheck);
}

std::optional<int64_t> EntrySignature::getReplayOf(unsigned result) const {
  auto original = entry.getResultAttrOfType<IntegerAttr>(result, kReplayOf);
  return original ? std::optional(original.getInt()) : std::nullopt;
}

ArrayRef<int64_t> EntrySignature::getReplacedArguments() const {
  if (replaced)
    return *replaced;
  DenseMap<StringAttr, int64_t> arguments;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (StringAttr name = getArgumentName(i))
      arguments[name] = i;
  replaced.emplace(entry.getNumResults(), -1);
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (StringAttr name = getResultName(i))
      (*replaced)[i] = arguments.lookup_or(name, -1);
  return *replaced;
}

bool EntrySignature::isNextValue(OpOperand &use) const {
  return use.getOwner() == entry.front().getTerminator() &&
         getReplacedArguments()[use.getOperandNumber()] >= 0;
}

} // namespace reprise
